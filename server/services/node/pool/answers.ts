import { ServiceError } from '../../../core/errors.ts'
import { isRaw, toData } from '../../../ethereum/quantity.ts'
import { NodeFailure } from '../node-connection.ts'
import type { Node } from './node.ts'
import { toNodeBlock } from './heads.ts'
import { RETRY_SECONDS, type Upstream } from '../upstream.ts'

/** Members that must be equal in the answers of two nodes. Other members differ between kinds of nodes. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  eth_getTransactionReceipt: ['transactionHash', 'blockHash', 'blockNumber', 'status', 'gasUsed'],
  eth_getBlockByNumber: ['hash', 'number'],
  eth_getBlockByHash: ['hash', 'number'],
}
/** Members that must be equal where both answers have them: not all nodes tell them. */
const MEMBERS_OF_BOTH: readonly string[] = ['effectiveGasPrice', 'l1Fee']

/** Calls whose answers can be compared between nodes. */
export const isComparable = (method: string) => method === 'eth_getTransactionCount' || method in MEMBERS

/**
 * What two nodes agree on. Of two nonces of an account, or two heads, it is the lower one: what only one node has seen
 * is not certain.
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
  return isSame(method, one, other) ? { answer: one } : undefined
}

const numberIn = (block: unknown) => (isRaw(block) ? Number(block['number']) : NaN)

function isSame(method: string, one: unknown, other: unknown): boolean {
  if (!isRaw(one) || !isRaw(other)) return one === other
  const areEqual = (member: string) => normal(one[member]) === normal(other[member])
  const areTold = (member: string) => normal(one[member]) !== null && normal(other[member]) !== null
  return (MEMBERS[method] ?? []).every(areEqual) && MEMBERS_OF_BOTH.filter(areTold).every(areEqual)
}

/** One spelling of a value: nodes differ in number formats and letter case, and leave out what others answer as null. */
function normal(value: unknown): unknown {
  if (typeof value === 'number') return `0x${value.toString(16)}`
  return typeof value === 'string' ? value.toLowerCase().replace(/^0x0+(?=.)/, '0x') : (value ?? null)
}

export const disagreement = (method: string) =>
  new ServiceError('UPSTREAM_UNAVAILABLE', `the nodes contradict each other on ${method}: it is not decided yet`)

/** The error for a caller when no node has answered: why, and when to ask again. */
export function unavailable(cause: unknown, nodes: readonly Node[]): ServiceError {
  const isWrongChain = nodes.every(({ isForeign }) => isForeign)
  const restMs = Math.min(...nodes.map((node) => node.restMs))
  const reason = isWrongChain || !(cause instanceof NodeFailure) ? 'no node of the right chain' : cause.message
  return new ServiceError('UPSTREAM_UNAVAILABLE', reason, {
    cause,
    ...(isWrongChain && { details: { wrongChain: true } }),
    retryAfterSeconds: Math.max(RETRY_SECONDS, Math.ceil(restMs / 1000)),
  })
}

type Check = (result: unknown, params: readonly unknown[]) => boolean

const isQuantity: Check = (value) =>
  typeof value === 'string' ? /^0x[0-9a-f]{1,64}$/i.test(value) : Number.isSafeInteger(value) && (value as number) >= 0
const isData: Check = (value) => typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value)

/** Whether a result is null, or an object in which each of these members, where it is there, is a quantity. */
const objectWith =
  (...quantities: readonly string[]): Check =>
  (value) =>
    value === null ||
    (isRaw(value) &&
      quantities.every((name) => value[name] === undefined || value[name] === null || isQuantity(value[name], [])))

const isBlock = objectWith('number', 'timestamp', 'baseFeePerGas', 'gasLimit')
const isReceipt = objectWith('blockNumber', 'gasUsed', 'effectiveGasPrice', 'l1Fee', 'status')

/** By method, whether the server can calculate with the answer. */
const usable: Readonly<Record<string, Check>> = {
  eth_blockNumber: isQuantity,
  eth_call: isData,
  eth_chainId: isQuantity,
  eth_gasPrice: isQuantity,
  eth_getBalance: isQuantity,
  // A chain always has a latest block.
  eth_getBlockByNumber: (value, [block]) => isBlock(value, []) && !(value === null && block === 'latest'),
  eth_getLogs: (value) => Array.isArray(value),
  eth_getTransactionByHash: objectWith('blockNumber', 'nonce'),
  eth_getTransactionCount: isQuantity,
  eth_getTransactionReceipt: isReceipt,
  eth_maxPriorityFeePerGas: isQuantity,
}

function isUsable(method: string, params: readonly unknown[], result: unknown): boolean {
  return usable[method]?.(result, params) ?? true
}

/** The same upstream; an answer of the wrong kind, such as `null` for a balance, is treated as no answer. */
export function checkResults(upstream: Upstream): Upstream {
  return {
    ...upstream,
    request: async <Result>(...[method, params, options]: Parameters<Upstream['request']>) => {
      const result = await upstream.request<Result>(method, params, options)
      if (isUsable(method, params, result)) return result
      const shown = (JSON.stringify(result) ?? 'nothing').slice(0, 60)
      throw new ServiceError('UPSTREAM_UNAVAILABLE', `the node answers ${method} with ${shown}`)
    },
  }
}

const isAt = (member: string, value: unknown, expected: unknown) =>
  value === null || (isRaw(value) && typeof value[member] === 'string' && toData(value[member]) === toData(expected))

/** By method, whether the answer is about what the question names. */
const matching: Readonly<Record<string, Check>> = {
  eth_sendRawTransaction: (value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value),
  eth_getTransactionByHash: (value, [hash]) => isAt('hash', value, hash),
  eth_getTransactionReceipt: (value, [hash]) => isAt('transactionHash', value, hash),
  eth_getBlockByHash: (value, [hash]) => isAt('hash', value, hash),
  eth_getBlockByNumber: (value, [block]) => {
    if (value === null || block === 'pending') return true
    const found = toNodeBlock(value)
    return found !== undefined && (!/^0x/.test(String(block)) || found.number === Number(block))
  },
}

/** Whether a node's result can belong to this call. If not, another node is asked. */
export function isSound(method: string, params: readonly unknown[], result: unknown): boolean {
  return isUsable(method, params, result) && (matching[method]?.(result, params) ?? true)
}
