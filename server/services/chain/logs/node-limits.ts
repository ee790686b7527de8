import { TOO_LARGE } from '../../node/node-connection.ts'
import { rpcErrorKind, UpstreamRpcError } from '../../node/upstream.ts'

/** Why a node refuses a call of eth_getLogs that would be served if it asked for less. */
export interface Refusal {
  /**
   * What the node found too much: the number of blocks (`range`), the logs in them (`content`), or the addresses and topics
   * (`list`). `unknown`: the node does not say, or in words that are not known here.
   */
  readonly kind: 'range' | 'content' | 'list' | 'unknown'
  /** The number of blocks that the node would serve, when its text names one. */
  readonly blocks?: number
}

/** The first and the last block that a call asked for. */
export interface BlockRange {
  readonly from: number
  readonly to: number
}

const LIST =
  /(?:too many|max(?:imum)?|exceed\w*|limit\w*|more than)\b.{0,20}\b(?:address(?:es)?|topics?|param(?:eter)?s)\b/i
const CONTENT =
  /\bresults\b|response (?:is |was )?(?:too|size|body)|(?:response|log|reply) size|size exceed|\blogs? (?:matched|found|count|limit)|too many (?:logs|events)|more than [\d,]+ (?:logs|events)|(?:timed? ?out|deadline)/i
const RANGE = /\brange|\bblocks?\b|\bdistance\b|smaller than size/i

/**
 * Reads from a node's error what was too much about a query for logs.
 *
 * @returns undefined when asking for less would not help: the node limits the rate of calls, does not know a block
 * (yet), or
 *   does not serve such queries at all
 *
 * Nodes have no common code for it, and their texts change every year. So the text only decides what to try first, and an
 * error with an unknown text is a reason to ask for less, too.
 */
export function refusalOf(error: unknown, range: BlockRange): Refusal | undefined {
  if (!(error instanceof UpstreamRpcError)) return undefined
  const kind = rpcErrorKind(error)
  if (kind !== undefined) return undefined
  if (error.code === TOO_LARGE && !/\brange|\bblocks?\b/i.test(error.message)) return { kind: 'content' }

  // Some nodes say "invalid params" and give the reason in the data.
  const texts = [error.message.slice(0, 2_000), dataText(error.data)]
  const text = texts.find((one) => LIST.test(one) || CONTENT.test(one) || RANGE.test(one)) ?? ''
  const blocks = [suggestedBlocks(error.data), blocksIn(text, range)].find(
    (one) => one !== undefined && one < spanOf(range),
  )
  return { kind: kindOf(text), ...(blocks !== undefined && { blocks }) }
}

function kindOf(text: string): Refusal['kind'] {
  if (LIST.test(text)) return 'list'
  if (CONTENT.test(text)) return 'content'
  return RANGE.test(text) ? 'range' : 'unknown'
}

const spanOf = ({ from, to }: BlockRange) => to - from + 1

/** The text in the data of an error, without members that say nothing about the fault. */
function dataText(data: unknown): string {
  if (typeof data === 'string') return data
  if (typeof data !== 'object' || data === null) return ''
  return Object.values(data)
    .filter((one) => typeof one === 'string')
    .join(' ')
    .slice(0, 2_000)
}

/** Infura names a range that it would serve in `data.from` and `data.to`. */
function suggestedBlocks(data: unknown): number | undefined {
  const { from, to } = (data ?? {}) as { from?: unknown; to?: unknown }
  return typeof from === 'string' && typeof to === 'string' ? lengthOf(from, to) : undefined
}

/** Length of a range that the text names, or else the largest number in it that may be a limit of blocks. */
function blocksIn(text: string, range: BlockRange): number | undefined {
  const span = spanOf(range)
  const words = text.replace(UUID, '')
  const [, first = '', last = ''] = PAIR.exec(words) ?? []
  const suggested = /\b(?:re)?try\b|should work|suggest/i.test(words) ? lengthOf(first, last) : undefined
  if (suggested !== undefined && suggested < span) return suggested
  if (kindOf(text) !== 'range') return undefined

  let largest: number | undefined
  for (const [, digits = '', thousand, unit] of words.matchAll(NUMBER)) {
    const value = Number(digits.replace(/[.,_]/g, '')) * (thousand === undefined ? 1 : 1_000)
    const isLimit = unit === undefined && value >= 1 && value < span && value !== range.from && value !== range.to
    if (isLimit && value > (largest ?? 0)) largest = value
  }
  return largest
}

/** Some nodes give each error an id, which is no number of blocks. */
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4,12}){4}\b/gi
const PAIR = /\b(0x[0-9a-f]+|\d+)\s*(?:,|-|to)\s*(0x[0-9a-f]+|\d+)\b/i
/** A decimal number, also with `k` for thousands, and a unit that is not blocks. */
const NUMBER =
  /(?<![\w.])(\d{1,3}(?:[.,_]\d{3})+|\d+)\s?(k\b)?(?:\s?(results|logs|events|bytes|[km]i?b\b|ms\b|s\b|sec|minutes|addresses|topics|param))?(?!\w)/gi

function lengthOf(from: string, to: string): number | undefined {
  const length = Number(to) - Number(from) + 1
  return from !== '' && to !== '' && length >= 1 ? length : undefined
}
