import type { Receipt } from '../../../../specs/index.ts'
import { projectLog } from './log.ts'
import { isRaw, orNull, setIfSent, toData, toQuantity } from '../../../ethereum/quantity.ts'

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
