import { ServiceError } from '../../../core/errors.ts'
import { isRaw } from '../../../ethereum/quantity.ts'

/** What must be the same in the answers of two nodes; the rest differs between kinds of nodes. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  eth_getTransactionReceipt: ['transactionHash', 'blockHash', 'blockNumber', 'status', 'gasUsed'],
  eth_getBlockByNumber: ['hash', 'number'],
  eth_getBlockByHash: ['hash', 'number'],
}

/** Calls whose answers can be compared between nodes. */
export const isComparable = (method: string) => method === 'eth_getTransactionCount' || method in MEMBERS

/**
 * What two nodes say together. Of the nonces of an account, and of two heads, the lower one: what only one node has seen
 * is not sure yet.
 *
 * @returns undefined when they contradict each other
 */
export function agreed(
  method: string,
  params: readonly unknown[],
  one: unknown,
  other: unknown,
): { readonly answer: unknown } | undefined {
  if (method === 'eth_getTransactionCount') return { answer: Number(one) <= Number(other) ? one : other }
  if (params[0] === 'latest' && numberIn(one) !== numberIn(other)) {
    return { answer: numberIn(one) < numberIn(other) ? one : other }
  }
  return keyOf(method, one) === keyOf(method, other) ? { answer: one } : undefined
}

const numberIn = (block: unknown) => (isRaw(block) ? Number(block['number']) : NaN)

function keyOf(method: string, answer: unknown): string {
  if (!isRaw(answer)) return String(answer)
  const members = (MEMBERS[method] ?? []).map((member) => normal(answer[member]))
  return JSON.stringify(members)
}

/** Nodes spell numbers and letter case as they like. */
function normal(value: unknown): unknown {
  if (typeof value === 'number') return `0x${value.toString(16)}`
  return typeof value === 'string' ? value.toLowerCase().replace(/^0x0+(?=.)/, '0x') : value
}

export const disagreement = (method: string) =>
  new ServiceError('UPSTREAM_UNAVAILABLE', `the nodes contradict each other on ${method}: it is not decided yet`)
