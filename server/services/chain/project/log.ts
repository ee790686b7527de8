import { isRaw, setIfSent, toData, toQuantity } from '../../../ethereum/quantity.ts'

/** A log entry as `specs/schemas/ethereum/log.json` has it; types hold once the schema has been checked. */
export interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly blockHash: string
  readonly blockNumber: string
  readonly blockTimestamp?: string
  readonly transactionHash: string
  readonly transactionIndex: string
  readonly logIndex: string
  readonly removed: boolean
}

/** A node's log entry without anything that the standard does not have. */
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
