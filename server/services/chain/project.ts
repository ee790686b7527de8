import type { Transaction, Receipt, Log } from '../../../specs/index.ts'
import { isRaw, orNull, setIfSent, toData, toQuantity, type Raw } from '../../ethereum/quantity.ts'

/** The members that a type has beside those of every transaction. */
const membersOfType: Readonly<Record<string, readonly string[]>> = {
  '0x0': ['gasPrice'],
  '0x1': ['gasPrice', 'accessList'],
  '0x2': ['gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas', 'accessList'],
  '0x3': ['gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas', 'maxFeePerBlobGas', 'accessList', 'blobVersionedHashes'],
  '0x4': ['gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas', 'accessList', 'authorizationList'],
}

/** How members are written that are no quantity. */
const writers: Readonly<Record<string, (value: unknown) => unknown>> = {
  accessList: (value) => mapList(value, projectAccess),
  blobVersionedHashes: (value) => mapList(value, toData),
  authorizationList: (value) => mapList(value, projectAuthorization),
}

/**
 * A node's transaction without anything that the standard does not have for its type, and with what nodes leave out
 * although it follows from the rest: yParity and v from each other, the chain's id of a legacy transaction from v.
 * The type holds once the schema has been checked.
 */
export function projectTransaction(raw: unknown): Transaction | null {
  if (!isRaw(raw)) return raw as null
  const type = String(toQuantity(raw['type'] ?? '0x0'))
  const mined = raw['blockHash'] !== undefined && raw['blockHash'] !== null
  const transaction: Record<string, unknown> = {
    type,
    hash: toData(raw['hash']),
    from: toData(raw['from']),
    blockHash: orNull(raw['blockHash'], toData),
    blockNumber: mined ? toQuantity(raw['blockNumber']) : null,
    transactionIndex: mined ? toQuantity(raw['transactionIndex']) : null,
    nonce: toQuantity(raw['nonce']),
    to: orNull(raw['to'], toData),
    gas: toQuantity(raw['gas']),
    value: toQuantity(raw['value']),
    input: toData(raw['input']),
  }
  if (mined) setIfSent(transaction, raw, 'blockTimestamp', toQuantity)
  setIfSent(transaction, raw, 'chainId', toQuantity)
  for (const name of membersOfType[type] ?? []) setIfSent(transaction, raw, name, writers[name] ?? toQuantity)
  if (type === '0x0') setLegacySignature(transaction, raw)
  else setTypedSignature(transaction, raw)
  return transaction as unknown as Transaction
}

function setLegacySignature(transaction: Record<string, unknown>, raw: Raw): void {
  const v = toQuantity(raw['v'])
  const isProtected = typeof v === 'string' && /^0x[0-9a-f]+$/.test(v) && BigInt(v) >= 35n
  // EIP-155: v = chainId * 2 + 35 + parity.
  if (isProtected) transaction['chainId'] ??= `0x${((BigInt(v) - 35n) / 2n).toString(16)}`
  else delete transaction['chainId']
  Object.assign(transaction, { v, r: toQuantity(raw['r']), s: toQuantity(raw['s']) })
}

function setTypedSignature(transaction: Record<string, unknown>, raw: Raw): void {
  transaction['accessList'] ??= []
  const yParity = toParity(raw['yParity'] ?? raw['v'])
  Object.assign(transaction, { yParity, v: yParity, r: toQuantity(raw['r']), s: toQuantity(raw['s']) })
}

/** 0 or 1; some nodes send the 27 or 28 of old. */
function toParity(value: unknown): unknown {
  const quantity = toQuantity(value)
  return quantity === '0x1b' ? '0x0' : quantity === '0x1c' ? '0x1' : quantity
}

function projectAccess(raw: unknown): unknown {
  if (!isRaw(raw)) return raw
  return { address: toData(raw['address']), storageKeys: mapList(raw['storageKeys'], toData) }
}

function projectAuthorization(raw: unknown): unknown {
  if (!isRaw(raw)) return raw
  return {
    chainId: toQuantity(raw['chainId']),
    nonce: toQuantity(raw['nonce']),
    address: toData(raw['address']),
    yParity: toParity(raw['yParity'] ?? raw['v']),
    r: toQuantity(raw['r']),
    s: toQuantity(raw['s']),
  }
}

const mapList = (value: unknown, project: (one: unknown) => unknown) =>
  Array.isArray(value) ? value.map((one) => project(one)) : value

const BLOB = '0x3'

/**
 * A node's receipt without anything that the standard does not have: anvil, for one, sends a blob price with every
 * receipt, and the block's time as a JSON number. The type holds once the schema has been checked.
 */
export function projectReceipt(raw: unknown): Receipt | null {
  if (!isRaw(raw)) return raw as null
  // Some nodes have receipts of what is not mined yet.
  if (raw['blockHash'] === null) return null
  const receipt: Record<string, unknown> = {}
  setIfSent(receipt, raw, 'type', toQuantity)
  receipt['transactionHash'] = toData(raw['transactionHash'])
  receipt['transactionIndex'] = toQuantity(raw['transactionIndex'])
  receipt['blockHash'] = toData(raw['blockHash'])
  receipt['blockNumber'] = toQuantity(raw['blockNumber'])
  receipt['from'] = toData(raw['from'])
  receipt['to'] = orNull(raw['to'], toData)
  receipt['cumulativeGasUsed'] = toQuantity(raw['cumulativeGasUsed'])
  receipt['gasUsed'] = toQuantity(raw['gasUsed'])
  receipt['contractAddress'] = orNull(raw['contractAddress'], toData)
  receipt['logs'] = Array.isArray(raw['logs']) ? raw['logs'].map(projectLog) : raw['logs']
  receipt['logsBloom'] = toData(raw['logsBloom'])
  setIfSent(receipt, raw, 'status', toQuantity)
  // Before Byzantium there was a state root, since then there is a status; some nodes send both.
  if (receipt['status'] === undefined) setIfSent(receipt, raw, 'root', toData)
  receipt['effectiveGasPrice'] = toQuantity(raw['effectiveGasPrice'])
  if (receipt['type'] === BLOB) {
    setIfSent(receipt, raw, 'blobGasUsed', toQuantity)
    setIfSent(receipt, raw, 'blobGasPrice', toQuantity)
  }
  return receipt as unknown as Receipt
}

/** A node's log entry without anything that the standard does not have; its type holds once the schema has been checked. */
export function projectLog(raw: unknown): Log {
  if (!isRaw(raw)) return raw as Log
  const { topics } = raw
  const log: Record<string, unknown> = {
    address: toData(raw['address']),
    topics: Array.isArray(topics) ? topics.map(toData) : topics,
    data: toData(raw['data']),
    blockHash: toData(raw['blockHash']),
    blockNumber: toQuantity(raw['blockNumber']),
  }
  setIfSent(log, raw, 'blockTimestamp', toQuantity)
  log['transactionHash'] = toData(raw['transactionHash'])
  log['transactionIndex'] = toQuantity(raw['transactionIndex'])
  log['logIndex'] = toQuantity(raw['logIndex'])
  log['removed'] = raw['removed'] ?? false
  return log as unknown as Log
}
