import {
  Interface,
  type JsonRpcApiProvider,
  parseEther,
  type Provider,
  type Signer,
  type TransactionRequest,
} from 'ethers'
import { loadArtifact } from '../artifacts.ts'
import { minedTransaction, type MinedTransaction, type Sender } from './sender.ts'

/** All logs of one contract, which lie between two blocks, both included. */
export interface SeededLogs {
  readonly emitter: string
  readonly fromBlock: number
  readonly toBlock: number
  readonly count: number
  /** Absent in fixtures of version 0.1. */
  readonly paired?: PairedLogs
}

/** All logs of two contracts. A few logs with long data come first; then the logs of both contracts alternate in one block. */
export interface PairedLogs {
  readonly emitters: readonly [one: string, other: string]
  readonly fromBlock: number
  readonly toBlock: number
  readonly count: number
}

export const logEmitterInterface = new Interface([
  'event Even(uint256 indexed sequence, uint256 indexed group, address indexed caller, bytes32 data)',
  'event Odd(uint256 indexed sequence, uint256 indexed group, address indexed caller, bytes32 data)',
  'function emitLogs(uint256 count)',
  'function emitted() view returns (uint256)',
])

export const logPairInterface = new Interface([
  'function one() view returns (address)',
  'function other() view returns (address)',
  'function emitPairs(uint256 blanks, uint256 rounds, uint256 each, uint256 longBytes)',
])

/** Logs of two contracts with 3 kB of data each. */
const LONG = { blanks: 0, rounds: 1, each: 2, longBytes: 3000 } as const
/**
 * Logs of two contracts in one block. They are more than a page together, and so many blank logs come before them that their
 * indexes do not fit into 12 bits. The block takes about 4 million gas.
 */
const PAIRS = { blanks: 4000, rounds: 52, each: 10, longBytes: 0 } as const

/**
 * The number of logs of each transaction, in groups. Together they are more than one page of 1,000 logs, one block alone is
 * more than a page, and pages begin and end inside of blocks. The first group shares a block where that can be had.
 */
const SEED_GROUPS: readonly (readonly number[])[] = [
  [100, 100, 100, 100, 100],
  [1100],
  [100, 100, 100, 100, 100, 100, 100, 100, 100],
]

/**
 * Deploys a log emitter and lets it emit 2,500 logs, with one block among them that has more than 1,000, and a log of
 * another contract between them. On a development node the first block has several of the transactions.
 */
export async function seedLogs(sender: Sender): Promise<SeededLogs> {
  const { bytecode } = await loadArtifact('LogEmitter')
  const [{ address: emitter, deployed }, stranger] = [sender.deploy(bytecode), sender.deploy(bytecode)]
  await Promise.all([deployed, stranger.deployed])
  const receipts: MinedTransaction[] = []
  for (const [index, counts] of SEED_GROUPS.entries()) {
    // A server that forgets the address on later pages includes this log of another contract.
    if (index === SEED_GROUPS.length - 1) await sender.mined(await emit(stranger.address, 1))
    const emitAll = () => Promise.all(counts.map((count) => emit(emitter, count)))
    const hashes = await (index === 0 ? inOneBlock(sender.provider, emitAll) : emitAll())
    receipts.push(...(await Promise.all(hashes.map((hash) => sender.mined(hash)))))
  }
  const blocks = receipts.map(({ blockNumber }) => blockNumber)
  return {
    emitter,
    fromBlock: Math.min(...blocks),
    toBlock: Math.max(...blocks),
    count: SEED_GROUPS.flat().reduce((sum, count) => sum + count, 0),
  }

  function emit(to: string, count: number): Promise<string> {
    const data = logEmitterInterface.encodeFunctionData('emitLogs', [count])
    return sender.send({ to, data })
  }
}

/**
 * Has a development node that mines each transaction at once (Hardhat, anvil) take what is sent meanwhile into one block, as
 * busy chains do. The blocks of all other nodes are their own affair.
 *
 * @param send broadcasts, and waits for no receipt
 */
async function inOneBlock<Result>(provider: Provider, send: () => Promise<Result>): Promise<Result> {
  const rpc = provider as Provider & Pick<JsonRpcApiProvider, 'send'>
  const minesAtOnce: unknown = await rpc.send('hardhat_getAutomine', []).catch(() => false)
  if (minesAtOnce !== true) return send()
  await rpc.send('evm_setAutomine', [false])
  try {
    return await send()
  } finally {
    await rpc.send('evm_setAutomine', [true])
    await rpc.send('evm_mine', [])
  }
}

/** Deploys two contracts and lets them emit logs; `creation` is the hash of the transaction that created them. */
export async function seedPairedLogs(sender: Sender): Promise<PairedLogs & { readonly creation: string }> {
  const { bytecode } = await loadArtifact('LogPair')
  const { address, deployed } = sender.deploy(bytecode)
  const { hash: creation } = await deployed
  const emit = async ({ blanks, rounds, each, longBytes }: typeof LONG | typeof PAIRS): Promise<number> => {
    const data = logPairInterface.encodeFunctionData('emitPairs', [blanks, rounds, each, longBytes])
    return (await sender.mined(await sender.send({ to: address, data }))).blockNumber
  }
  const [fromBlock, toBlock] = [await emit(LONG), await emit(PAIRS)]
  const read = async (getter: 'one' | 'other') => {
    const result = await sender.provider.call({ to: address, data: logPairInterface.encodeFunctionData(getter) })
    return logPairInterface.decodeFunctionResult(getter, result)[0] as string
  }
  const count = [LONG, PAIRS].reduce((sum, { rounds, each }) => sum + rounds * 2 * each, 0)
  return { emitters: [await read('one'), await read('other')], fromBlock, toBlock, count, creation }
}

/** Hashes of mined transactions, by their purpose. A kind that the chain does not accept is absent. */
export type SeededTransactions = {
  /** A transaction of type 0. */
  readonly legacy?: string
  /** A transaction of type 1, with an address and a storage key in its list. */
  readonly accessList?: string
  /** A transaction of type 2. */
  readonly dynamicFee?: string
  /** A transaction that was mined and reverted. */
  readonly reverted?: string
  /** Creates a contract. */
  readonly creation?: string
  /** Sends a number of wei that a double cannot hold, to the sender itself. */
  readonly largeValue?: string
}

type Kind = keyof SeededTransactions

/** More than enough for a call that the contract refuses. */
const CALL_GAS = 100_000n

/** The log emitter has no function with this selector. */
const UNKNOWN_FUNCTION = '0xdeadbeef'

/** An amount with digits down to the last wei, at most a quarter of the balance. Undefined when the balance is too small. */
function largeValue(balance: bigint): bigint | undefined {
  const most = parseEther('1.234567890123456789')
  const value = balance / 4n < most ? (balance / 4n) | 1n : most
  return BigInt(Number(value)) === value ? undefined : value
}

/**
 * Sends one transaction of each kind that the chain accepts, one after the other. Clients meet all kinds, and a quiet chain has
 * none of them.
 *
 * @param signer nobody else may use its account meanwhile
 * @param contract refuses functions that it does not know, and has a storage slot 0
 */
export async function seedTransactions(signer: Signer, contract: string): Promise<SeededTransactions> {
  const provider = signer.provider
  if (!provider) throw new TypeError('the signer needs a provider')
  const from = await signer.getAddress()
  const [{ gasPrice, maxFeePerGas, maxPriorityFeePerGas }, balance] = await Promise.all([
    provider.getFeeData(),
    provider.getBalance(from),
  ])
  const priced = { gasPrice, gasLimit: CALL_GAS }
  const dynamic = { maxFeePerGas, maxPriorityFeePerGas, gasLimit: CALL_GAS }
  const storageKeys = [`0x${'0'.repeat(64)}`]
  const value = largeValue(balance)
  const transactions: Partial<Record<Kind, TransactionRequest>> = {
    legacy: { ...priced, type: 0, to: from, value: 1n },
    accessList: { ...priced, type: 1, to: from, value: 1n, accessList: [{ address: contract, storageKeys }] },
    ...(maxFeePerGas === null ? {} : { dynamicFee: { ...dynamic, type: 2, to: from, value: 1n } }),
    reverted: { ...priced, type: 0, to: contract, data: UNKNOWN_FUNCTION },
    ...(value === undefined ? {} : { largeValue: { ...priced, type: 0, to: from, value } }),
  }
  const hashes: Partial<Record<Kind, string>> = {}
  let nonce = await provider.getTransactionCount(from, 'pending')
  for (const [kind, transaction] of Object.entries(transactions) as [Kind, TransactionRequest][]) {
    // A chain refuses transaction types that are newer than its rules, so its fixture lacks them.
    const sent = await signer.sendTransaction({ ...transaction, nonce }).catch(() => undefined)
    if (!sent) continue
    nonce += 1
    hashes[kind] = (await minedTransaction(provider, sent.hash)).hash
  }
  return hashes
}
