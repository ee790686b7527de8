import { setTimeout as delay } from 'node:timers/promises'
import { getAddress } from 'ethers'
import type { ClauseId } from '../../../specs/index.ts'
import { type Answer, describeAnswer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { Fault } from '../outcome.ts'
import { isServed, memberOf } from '../rpc-answer.ts'
import { type ListedMethod, methodsWithoutParameters } from './methods.ts'
import { numberOf, quantity } from './quantity.ts'

/** A valid request that is refused is made again after this time: what fails for a moment has not failed. */
const secondAttemptMs = 200
/** After so many second attempts in vain, the others follow at once: a target that serves nothing ends in time. */
const patientAttempts = 10
/** So many valid requests that are refused and then served are a moment's trouble; one more is a habit. */
const forgiven = { transport: 1, error: 2 } as const

/** An answer that serves its request, and the result in it, integers beyond 2^53 as bigints. */
export interface Served {
  readonly answer: Answer
  readonly result: unknown
}

interface Refusals {
  /** Valid requests that were refused once and served the next moment, by what refused them. */
  readonly passing: { transport: number; error: number; readonly methods: Set<ListedMethod> }
  /** Second attempts in vain. */
  vain: number
  /** Requests that were served before. */
  readonly served: Set<string>
}

function refusalsOf(t: CheckContext): Promise<Refusals> {
  return t.once('eth-rpc.refusals', async () => ({
    passing: { transport: 0, error: 0, methods: new Set<ListedMethod>() },
    vain: 0,
    served: new Set<string>(),
  }))
}

/** Whether HTTP itself refuses: no state of the chain can be the reason, as for an error of JSON-RPC. */
function isOfTransport({ status, failure }: Answer): boolean {
  return failure !== undefined || status === 401 || status === 403 || (status !== undefined && status >= 500)
}

/** @throws Fault when valid requests are refused again and again: of the method, or of the endpoint when it is not one */
function notice(t: CheckContext, method: ListedMethod, refused: Answer, { passing }: Refusals): void {
  const kind = isOfTransport(refused) ? 'transport' : 'error'
  passing[kind] += 1
  passing.methods.add(method)
  t.observe(`${method} was refused once and served a moment later: ${describeAnswer(refused)}`)
  if (passing[kind] <= forgiven[kind]) return
  throw new Fault('valid requests are refused now and then', {
    expected: 'each valid request is served, as the same one is a moment later',
    actual: describeAnswer(refused),
    answer: refused,
    of: passing.methods.size > 1 ? 'eth-rpc.endpoint.post' : `eth-rpc.${method}.success`,
  })
}

/** A way to put a request that differs from the documented envelope in what one sentence allows. */
export interface Variant {
  readonly of: ClauseId
  readonly ask: () => Promise<Answer>
}

/**
 * Makes a request that the document promises to serve. One that is refused is made a second time: to refuse once is
 * told, to refuse now and then is a fault.
 *
 * @param variant absent: the documented envelope
 * @throws Fault of the sentence that the refusal contradicts
 */
export async function expectServed(
  t: CheckContext,
  method: ListedMethod,
  params: readonly unknown[] = [],
  variant?: Variant,
): Promise<Served> {
  const ask = variant?.ask ?? (() => t.rpc.call(method, params, { owedBy: `eth-rpc.${method}.success` }))
  const refusals = await refusalsOf(t)
  const request = `${method} ${JSON.stringify(params)}`
  const first = await ask()
  let answer = first
  if (!isServed(first)) {
    if (refusals.vain < patientAttempts) await delay(secondAttemptMs)
    answer = await ask()
    if (!isServed(answer)) {
      refusals.vain += 1
      const isPlainServed = variant !== undefined && isServed(await t.rpc.call(method, params))
      throw refusalFault(answer, isPlainServed ? variant.of : await brokenSentence(t, method, params))
    }
    if (isOfTransport(first) || refusals.served.has(request)) notice(t, method, first, refusals)
  }
  refusals.served.add(request)
  return { answer, result: memberOf(answer, 'result') }
}

/** A valid request was refused, against the sentence that promises to serve it. */
export function refusalFault(answer: Answer, of: ClauseId): Fault {
  return new Fault('the request was not served', {
    expected: 'a status of success with a result and no error',
    actual: describeAnswer(answer),
    answer,
    of,
  })
}

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
