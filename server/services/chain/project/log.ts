import type { Log } from '../../../../specs/index.ts'
import { isRaw, setIfSent, toData, toQuantity } from '../../../ethereum/quantity.ts'

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
