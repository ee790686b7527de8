import { getAddress } from 'ethers'
import type { ClauseId } from '../../../specs/index.ts'
import type { Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { isServed, memberOf } from '../expect-rpc.ts'
import { methodsWithoutParameters, type ListedMethod } from './listed-methods.ts'
import { numberOf, quantity } from './quantity.ts'

/** Another way to put a request, and the sentence that is broken where only that way is served. */
type Alternative = readonly [of: ClauseId, ask: () => Promise<Answer>]

const isHex = /^0x[0-9a-f]+$/i

function envelope(method: string, params: readonly unknown[]) {
  return { id: 1, jsonrpc: '2.0', method, params }
}

async function firstServed(alternatives: readonly Alternative[]): Promise<ClauseId | undefined> {
  for (const [of, ask] of alternatives) if (isServed(await ask())) return of
  return undefined
}

/** Every form of the envelope that the document does not ask for. */
function otherEnvelopes(t: CheckContext, method: string, params: readonly unknown[]): Alternative[] {
  const standard = envelope(method, params)
  const { id, jsonrpc } = standard
  return [
    ['eth-rpc.endpoint.standard-format', () => t.rpc.send({ jsonrpc, id, method, params })],
    ['eth-rpc.endpoint.standard-format', () => t.rpc.send({ method, params, id, jsonrpc })],
    ['eth-rpc.envelope.params-empty', () => t.rpc.send({ id, jsonrpc, method })],
    ['eth-rpc.envelope.id-integer', () => t.rpc.send({ ...standard, id: '1' })],
    ['eth-rpc.envelope.id-integer', () => t.rpc.send({ jsonrpc, method, params })],
    ['eth-rpc.envelope.version', () => t.rpc.send({ id, method, params })],
    ['eth-rpc.envelope.version', () => t.rpc.send({ ...standard, jsonrpc: '1.0' })],
    ['eth-rpc.envelope.version', () => t.rpc.send({ ...standard, jsonrpc: 2 })],
  ]
}

/**
 * The sentence that is broken for every method: undefined when one of them is served as the document says. Asked once
 * in a run.
 */
function brokenForAll(t: CheckContext): Promise<ClauseId | undefined> {
  return t.once('eth-rpc.broken-for-all', async (shared) => {
    for (const method of methodsWithoutParameters) if (isServed(await shared.rpc.call(method))) return undefined
    return (await firstServed(otherEnvelopes(shared, 'eth_chainId', []))) ?? 'eth-rpc.endpoint.post'
  })
}

/** The head as the target tells it; zero when it does not. */
async function ownHead(t: CheckContext): Promise<string> {
  return quantity(numberOf(memberOf(await t.rpc.call('eth_blockNumber'), 'result')) ?? 0n)
}

function balanceAlternatives(t: CheckContext, [address, block]: readonly unknown[]): Alternative[] {
  const ask = (...params: unknown[]) => t.rpc.call('eth_getBalance', params)
  const text = String(address)
  const other = text === text.toLowerCase() ? getAddress(text) : text.toLowerCase()
  return [
    ['eth-rpc.types.address', () => ask(other, block)],
    isHex.test(String(block))
      ? ['eth-rpc.types.block-number', () => ask(address, 'latest')]
      : ['eth-rpc.types.block-tags', async () => ask(address, await ownHead(t))],
    ['eth-rpc.envelope.params-positional', () => ask(block, address)],
    [
      'eth-rpc.envelope.params-positional',
      () => t.rpc.send({ id: 1, jsonrpc: '2.0', method: 'eth_getBalance', params: { address, block } }),
    ],
  ]
}

function hashAlternatives(t: CheckContext, method: ListedMethod, [hash]: readonly unknown[]): Alternative[] {
  const digits = String(hash).slice(2)
  return [digits, `0x${digits.toUpperCase()}`, `0X${digits.toUpperCase()}`].map((other) => [
    'eth-rpc.types.hash',
    () => t.rpc.call(method, [other]),
  ])
}

function alternativesOf(t: CheckContext, method: ListedMethod, params: readonly unknown[]): Alternative[] {
  if (method === 'eth_getLogs') return []
  if (method === 'eth_getBalance') return balanceAlternatives(t, params)
  if (method === 'eth_getTransactionByHash' || method === 'eth_getTransactionReceipt') {
    return hashAlternatives(t, method, params)
  }
  return [['eth-rpc.envelope.params-empty', () => t.rpc.send({ id: 1, jsonrpc: '2.0', method })]]
}

/**
 * The sentence that is broken where a valid request is refused: that of the one part that must be put in another way
 * for the request to be served, and the method's own where no way is.
 */
export async function brokenSentence(
  t: CheckContext,
  method: ListedMethod,
  params: readonly unknown[],
): Promise<ClauseId> {
  const general = await brokenForAll(t)
  if (general !== undefined) return general
  return t.once<ClauseId>(`eth-rpc.broken-sentence ${method} ${JSON.stringify(params)}`, async (shared) => {
    const found = await firstServed(alternativesOf(shared, method, params))
    return found ?? `eth-rpc.${method}.success`
  })
}
