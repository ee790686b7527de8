import { getAddress } from 'ethers'
import type { ClauseId } from '../../../specs/index.ts'
import { type Answer, describeAnswer, isServed, memberOf, yieldsResult } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { Fault } from '../outcome.ts'
import { delay } from '../world.ts'
import { eventually } from './head.ts'
import { inventedMethod, type ListedMethod, methodsWithoutParameters } from './methods.ts'
import { isNumber, numberOf, quantity, readingsOf } from './values.ts'

/** The wait before a refused valid request is sent again: a target may fail for a moment. */
const secondAttemptMs = 200
/**
 * After this many second attempts in vain, the check does not wait before the next ones, so that a run against a
 * broken target ends in time.
 */
const patientAttempts = 10
/** The run forgives this many valid requests that the target refused and served a moment later. */
const forgiven = { transport: 1, error: 2 } as const

/** An answer that serves its request, and its result. Integers beyond 2^53 are bigints. */
export interface Served {
  readonly answer: Answer
  readonly result: unknown
}

interface Refusals {
  /** How many valid requests were refused once and served a moment later, by what refused them. */
  readonly passing: { transport: number; error: number; readonly methods: Set<ListedMethod> }
  /** How many second attempts were in vain. */
  vain: number
  /** Requests that the target has served before. */
  readonly served: Set<string>
}

function refusalsOf(t: CheckContext): Promise<Refusals> {
  return t.once('eth-rpc.refusals', async () => ({
    passing: { transport: 0, error: 0, methods: new Set<ListedMethod>() },
    vain: 0,
    served: new Set<string>(),
  }))
}

/** Whether HTTP refuses the request, not JSON-RPC. The state of the chain can be no reason for such a refusal. */
function isOfTransport({ status, failure }: Answer): boolean {
  return failure !== undefined || status === 401 || status === 403 || (status !== undefined && status >= 500)
}

/**
 * Counts a refusal that passed.
 *
 * @throws Fault when the target refuses valid requests again and again: of the method, or of the endpoint when
 * several methods are concerned
 */
function notice(t: CheckContext, method: ListedMethod, refused: Answer, { passing }: Refusals): void {
  const kind = isOfTransport(refused) ? 'transport' : 'error'
  passing[kind] += 1
  passing.methods.add(method)
  t.observe(`${method} was refused once and served a moment later: ${describeAnswer(refused)}`)
  if (passing[kind] <= forgiven[kind]) return
  throw new Fault('the target refuses valid requests now and then', {
    expected: 'the target serves each valid request, as it serves the same one a moment later',
    actual: describeAnswer(refused),
    answer: refused,
    of: passing.methods.size > 1 ? 'eth-rpc.endpoint.post' : `eth-rpc.${method}.success`,
  })
}

/** A request that differs from the documented envelope in what one sentence allows. */
interface Variant {
  readonly of: ClauseId
  readonly ask: () => Promise<Answer>
}

interface ServeOptions {
  readonly variant?: Variant
  /**
   * The request is about a young block or transaction. A service that is some seconds behind may answer what it does
   * not know yet with an error, so the request is sent again for as long as `eventually` waits.
   */
  readonly isYoung?: boolean
}

/**
 * Makes a request that the document promises to serve, and a second time when the target refuses it. One refusal
 * that passes is observed; several are a fault.
 *
 * @param options.variant absent: the documented envelope
 * @throws Fault of the sentence that the refusal contradicts
 */
export async function expectServed(
  t: CheckContext,
  method: ListedMethod,
  params: readonly unknown[] = [],
  { variant, isYoung = false }: ServeOptions = {},
): Promise<Served> {
  const ask = variant?.ask ?? (() => t.rpc.call(method, params, { owedBy: `eth-rpc.${method}.success` }))
  const refusals = await refusalsOf(t)
  const request = `${method} ${JSON.stringify(params)}`
  const first = await ask()
  let answer = first
  if (!isServed(first)) {
    if (refusals.vain < patientAttempts) await delay(secondAttemptMs)
    answer = await ask()
    if (isYoung && !isServed(answer)) {
      answer = await eventually(t, ask, (again) => isServed(again) || isOfTransport(again))
    }
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

/** The fault of a target that refuses a valid request, against the sentence that promises to serve it. */
function refusalFault(answer: Answer, of: ClauseId): Fault {
  return new Fault('the request was not served', {
    expected: 'a status of success with a result and no error',
    actual: describeAnswer(answer),
    answer,
    of,
  })
}

/** Another form of a request, and the sentence that the target breaks when it serves only this form. */
type Alternative = readonly [of: ClauseId, ask: () => Promise<Answer>]

const isHex = /^0x[0-9a-f]+$/i

function envelope(method: string, params: readonly unknown[]) {
  return { id: 1, jsonrpc: '2.0', method, params }
}

async function firstServed(alternatives: readonly Alternative[]): Promise<ClauseId | undefined> {
  for (const [of, ask] of alternatives) if (isServed(await ask())) return of
  return undefined
}

/** Forms of the envelope that the document does not show. */
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
 * The sentence that the target breaks for every method; undefined when it serves one of the methods as the document
 * says. Asked once in a run.
 */
function brokenForAll(t: CheckContext): Promise<ClauseId | undefined> {
  return t.once('eth-rpc.broken-for-all', async (shared) => {
    for (const method of methodsWithoutParameters) if (isServed(await shared.rpc.call(method))) return undefined
    return (await firstServed(otherEnvelopes(shared, 'eth_chainId', []))) ?? 'eth-rpc.endpoint.post'
  })
}

/** The head that the target tells; zero when it tells none. */
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
 * The sentence that the target breaks when it refuses a valid request. The function sends the request in other
 * forms. The sentence about the one part that must be changed is broken; where no form is served, the sentence about
 * the method itself.
 */
async function brokenSentence(t: CheckContext, method: ListedMethod, params: readonly unknown[]): Promise<ClauseId> {
  const general = await brokenForAll(t)
  if (general !== undefined) return general
  return t.once<ClauseId>(`eth-rpc.broken-sentence ${method} ${JSON.stringify(params)}`, async (shared) => {
    const found = await firstServed(alternativesOf(shared, method, params))
    return found ?? `eth-rpc.${method}.success`
  })
}

/**
 * Makes sure that a result of this target means something where no chain tells the right one: a target that has a
 * result for an invented method has one for everything. Asked once in a run.
 *
 * @throws Fault of the sentence that unlisted methods are not supported
 */
async function expectDiscerning(t: CheckContext): Promise<void> {
  await t.once('eth-rpc.discerning', async (shared) => {
    const answer = await shared.rpc.call(inventedMethod)
    if (!yieldsResult(answer)) return
    throw new Fault('the target has a result for an invented method', {
      expected: 'no result',
      actual: describeAnswer(answer),
      answer,
      of: 'eth-rpc.methods.unlisted-refused',
    })
  })
}

/** A served result that is a number. */
interface ServedNumber extends Served {
  /** Every number that the result may mean, the most likely first. */
  readonly readings: readonly [bigint, ...bigint[]]
}

/**
 * The target serves the method with a number.
 *
 * @param what names the number in the message: `a price in wei`
 * @param options as those of expectServed
 * @throws Fault of the sentence that the answer contradicts
 */
export async function expectNumber(
  t: CheckContext,
  method: ListedMethod,
  params: readonly unknown[],
  what: string,
  options?: ServeOptions,
): Promise<ServedNumber> {
  const { answer, result } = await expectServed(t, method, params, options)
  const [first, ...others] = readingsOf(result)
  if (first === undefined) {
    const of = `eth-rpc.${method}.success` as const
    throw new Fault('the result is no number', { expected: what, actual: describeAnswer(answer), answer, of })
  }
  if (!t.hasChain) await expectDiscerning(t)
  return { answer, result, readings: [first, ...others] }
}

/**
 * The target serves eth_chainId. With a chain, the result is the chain's id. Without a chain, it is a number from a
 * target that does not have a result for everything.
 *
 * @param variant absent: the documented envelope
 * @throws Fault of the sentence that the answer contradicts
 */
export async function expectChainId(t: CheckContext, variant?: Variant): Promise<Served> {
  const served = await expectServed(t, 'eth_chainId', [], variant && { variant })
  const { answer, result } = served
  const of = 'eth-rpc.eth_chainId.success'
  if (numberOf(result) === undefined) {
    throw new Fault('the result is no number', {
      expected: 'the id of the chain',
      actual: describeAnswer(answer),
      answer,
      of,
    })
  }
  if (!t.hasChain) await expectDiscerning(t)
  else if (!isNumber(result, t.chain.chainId)) {
    throw new Fault('the result is not the id of the chain', {
      expected: `${t.chain.chainId}`,
      actual: `${numberOf(result)}`,
      answer,
      of,
    })
  }
  return served
}

/**
 * Makes sure that the target serves a request, since a target that serves none has no form of response to judge.
 *
 * @throws Fault of the sentence that the target breaks
 */
export async function requireRpcService(t: CheckContext): Promise<void> {
  await t.once('eth-rpc.service', (shared) => expectServed(shared, 'eth_chainId'))
}
