import { setTimeout as delay } from 'node:timers/promises'
import { getAddress } from 'ethers'
import { hangUp, respond, type AlteredRequest, type AlteredResponse, type Forward } from '../altered/define.ts'
import { requestObject } from '../altered/lib/relay.ts'
import { serveAlteration } from '../altered/serve.ts'
import type { Answer } from '../lib/answer.ts'
import { connectChain, type ChainTruth } from '../lib/chain-truth.ts'
import type { Fixture } from '../lib/fixture.ts'
import { recordOf } from '../lib/http.ts'
import { Untestable } from '../lib/outcome.ts'
import { keyManagerAbi } from '../lib/relay/contracts.ts'
import { isHash, normalHash } from '../lib/relay/answers.ts'
import { type CallForm, isAddress, isHex, normalHex, pathOf, readCall, readInteger } from './requests.ts'
import type { CallFacts, DirectExecution, Provocation, QuotaFacts, Recorded, Recording, Step } from './recording.ts'
import { factsOfCall, factsOfQuota } from './signers.ts'

export interface JudgingRelayOptions {
  /** The relay that serves: POST /execute, POST /quota and POST /api/eth-rpc. */
  readonly serverUrl: string
  /** What the client is given: the profile, and the keys of its controllers. */
  readonly fixture: Fixture
  /** What is done with the first call, the second and so on; those after the last step are served. */
  readonly steps: readonly Step[]
  /** What Retry-After says; absent: 1. */
  readonly retryAfterSeconds?: number
}

/** A relay that serves its callers as the one behind it does, and records them. */
export interface JudgingRelay {
  /** The base URL that the client is given, for both documents. */
  readonly url: string
  /**
   * What the client did, with what the chain tells about it.
   *
   * @throws Untestable when the node or the relay behind did not answer: nobody is judged then
   */
  finish(cutShort?: string): Promise<Recording>
  close(): Promise<void>
}

/** Facts about a request that only the chain of that moment can tell. */
interface Facts {
  readonly call?: CallFacts
  readonly quota?: QuotaFacts
}

function factsOf(chain: ChainTruth, controllers: readonly string[]) {
  return async (request: AlteredRequest): Promise<Facts> => {
    const path = pathOf({ request })
    if (path.endsWith('/execute')) return { call: await factsOfCall(chain, readCall(request), controllers) }
    const { address, signature, timestamp } = requestObject(request)
    const time = readInteger(timestamp)
    if (!path.endsWith('/quota') || !isAddress(address) || !isHex(signature) || !time) return {}
    const message = {
      address: normalHex(address),
      spelled: address,
      signature: normalHex(signature),
      timestamp: time.value,
    }
    return { quota: await factsOfQuota(chain, message, controllers) }
  }
}

/** The call as the key manager tells it from others: the same for every request that repeats it. */
const identityOf = ({ payload, nonce }: CallForm, signer: string): string => `${signer} ${nonce?.value} ${payload}`

/** Chooses what to do with each call: new calls get the steps in turn, a call that is sent again is served. */
function createScript(steps: readonly Step[]) {
  const seen = new Set<string>()
  return (request: AlteredRequest, { call }: Facts): Provocation | undefined => {
    if (call?.signer === undefined || call.instead || request.method !== 'POST') return undefined
    const identity = identityOf(readCall(request), call.signer)
    if (seen.has(identity)) return undefined
    seen.add(identity)
    const step = steps[seen.size - 1]
    return step === 'served' ? undefined : step
  }
}

const hashIn = ({ json }: AlteredResponse): string | undefined => {
  const hash = (json as { transactionHash?: unknown } | null | undefined)?.transactionHash
  return isHash(hash) ? normalHash(hash) : undefined
}

/** What a relay says that cannot serve for a while. */
function unavailable(broadcast: boolean): AlteredResponse {
  const message = broadcast ? 'The call was sent; what became of it is not known.' : 'The call was not sent.'
  return respond(503, { code: 'UPSTREAM_UNAVAILABLE', message, details: {}, broadcast })
}

interface Outcome {
  /** What the client gets. */
  readonly response: AlteredResponse
  readonly served?: AlteredResponse
  readonly provoked?: Provocation
}

/** Serves a request, or does with it what was chosen. What the relay behind refuses is never provoked. */
async function serve(
  request: AlteredRequest,
  forward: Forward,
  provocation: Provocation | undefined,
  retryAfterSeconds: number,
): Promise<Outcome> {
  if (provocation === 'refused') return { response: unavailable(false), provoked: provocation }
  if (provocation === 'busy') {
    const body = { code: 'RATE_LIMITED', message: 'Too many calls.', details: {}, broadcast: false }
    return { response: respond(429, body, { 'retry-after': String(retryAfterSeconds) }), provoked: provocation }
  }
  const served = await forward(request)
  if (provocation === undefined || served.status !== 200 || hashIn(served) === undefined) {
    return { response: served, served }
  }
  return { response: provocation === 'lost' ? hangUp : unavailable(true), served, provoked: provocation }
}

function answerOf(url: string, request: AlteredRequest, response: AlteredResponse, durationMs: number): Answer {
  const { status, headers, text, json, hangsUp } = response
  const { method, path, headers: sent, text: body } = request
  const received = hangsUp ? undefined : { status, headers, text }
  const failure = hangsUp
    ? { kind: 'closed' as const, message: 'the judging relay closed the connection after the call was relayed' }
    : undefined
  const recorded = recordOf(
    { method, url: `${url}${path}`, headers: sent, ...(body === '' ? {} : { body }) },
    {},
    received,
  )
  const exchange = { ...recorded, ...(failure && { failure }), durationMs }
  return { status: received?.status, headers, text, json, failure, durationMs, exchange }
}

async function headOf(chain: ChainTruth): Promise<number> {
  return Number(await chain.send('eth_blockNumber'))
}

/** `execute(bytes)` of a key manager (LSP6), which a controller sends and pays itself. */
const directSelector = '0x09c5eabe'

interface ChainTransaction {
  readonly hash: string
  readonly to: string | null
  readonly input: string
}

/** Profiles and their key managers, in lower case. */
interface Contracts {
  readonly profiles: ReadonlySet<string>
  readonly keyManagers: ReadonlySet<string>
}

/** What a transaction had a profile do: by `execute` of its key manager, or called itself by a controller (LSP20). */
function payloadIn({ to, input }: ChainTransaction, { profiles }: Contracts): string {
  if (profiles.has(to?.toLowerCase() ?? '')) return input.toLowerCase()
  const [payload] = keyManagerAbi.decodeFunctionData('execute', input) as unknown as [string]
  return payload.toLowerCase()
}

function isDirect({ to, input }: ChainTransaction, { profiles, keyManagers }: Contracts): boolean {
  const called = to?.toLowerCase() ?? ''
  return profiles.has(called) || (keyManagers.has(called) && input.startsWith(directSelector))
}

/** What somebody had one of the profiles execute without the relay, after a block. */
async function findDirectExecutions(
  chain: ChainTruth,
  contracts: Contracts,
  afterBlock: number,
): Promise<DirectExecution[]> {
  const found: DirectExecution[] = []
  const head = contracts.profiles.size === 0 ? 0 : await headOf(chain)
  for (let blockNumber = afterBlock + 1; blockNumber <= head; blockNumber++) {
    const { transactions } = (await chain.send('eth_getBlockByNumber', [`0x${blockNumber.toString(16)}`, true])) as {
      readonly transactions: readonly ChainTransaction[]
    }
    for (const transaction of transactions.filter((each) => isDirect(each, contracts))) {
      const { hash: transactionHash } = transaction
      if (!(await isExecuted(chain, transactionHash))) continue
      found.push({ transactionHash, blockNumber, payload: payloadIn(transaction, contracts) })
    }
  }
  return found
}

async function isExecuted(chain: ChainTruth, hash: string): Promise<boolean> {
  const receipt = (await chain.send('eth_getTransactionReceipt', [hash])) as { status: string } | null
  return receipt?.status === '0x1'
}

/** How long is waited at the end for calls that the relay has taken and that are not mined. */
const minedWithinMs = 5_000

async function executedOf(chain: ChainTruth, requests: readonly Recorded[]): Promise<ReadonlySet<string>> {
  const hashes = new Set(requests.flatMap(({ served }) => (served && hashIn(served)) ?? []))
  const executed = new Set<string>()
  const endMs = performance.now() + minedWithinMs
  for (const hash of hashes) {
    while ((await chain.send('eth_getTransactionReceipt', [hash])) === null && performance.now() < endMs) {
      await delay(100)
    }
    if (await isExecuted(chain, hash)) executed.add(hash)
  }
  return executed
}

function contractsOf(requests: readonly Recorded[]): Contracts {
  const called = requests.filter(({ call }) => call?.keyManager !== undefined)
  return {
    profiles: new Set(called.flatMap(({ request }) => readCall(request).address ?? [])),
    keyManagers: new Set(called.flatMap(({ call }) => call?.keyManager?.toLowerCase() ?? [])),
  }
}

/** Does one piece of work after the other, in the order of the calls. */
function inOrder(): <Value>(work: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
}

/** Starts a relay that records its callers, at a free port of this machine, in front of one that serves. */
export async function startJudgingRelay(options: JudgingRelayOptions): Promise<JudgingRelay> {
  const { serverUrl, fixture, steps, retryAfterSeconds = 1 } = options
  const chain = await connectChain(fixture.chain.rpcUrl)
  const firstBlock = await headOf(chain)
  const accounts = Object.values(fixture.controllers)
  const controllers = accounts.map(({ address }) => getAddress(address))
  const look = factsOf(chain, controllers)
  const choose = createScript(steps)
  // The relay behind gets the requests in the order in which the client sent them.
  const lookInOrder = inOrder()
  const underWay = new Set<Promise<Recorded>>()
  const arrived: Promise<Recorded>[] = []
  const broken: unknown[] = []

  async function handle(request: AlteredRequest, forward: Forward): Promise<Recorded & { response: AlteredResponse }> {
    const arrivedMs = Date.now()
    const facts = await lookInOrder(() => look(request))
    const outcome = await serve(request, forward, choose(request, facts), retryAfterSeconds)
    const headBlock = await headOf(chain)
    const answeredMs = Date.now()
    const answer = answerOf(relay.url, request, outcome.response, answeredMs - arrivedMs)
    return { request, arrivedMs, answeredMs, answer, headBlock, ...facts, ...outcome }
  }

  const every = async (request: AlteredRequest, forward: Forward): Promise<AlteredResponse> => {
    const handling = handle(request, forward)
    arrived.push(handling)
    underWay.add(handling)
    return (await handling.finally(() => underWay.delete(handling))).response
  }
  const relay = await serveAlteration({ every }, { serverUrl, fixture }, (error) => broken.push(error))

  return {
    url: relay.url,
    async finish(cutShort) {
      while (underWay.size > 0) await Promise.allSettled(underWay)
      const [error] = broken
      if (error !== undefined) {
        throw new Untestable(`the judging relay failed: ${error instanceof Error ? error.message : 'no reason'}`)
      }
      const requests = await Promise.all(arrived)
      return {
        requests,
        executed: await executedOf(chain, requests),
        directExecutions: await findDirectExecutions(chain, contractsOf(requests), firstBlock),
        privateKeys: accounts.map(({ privateKey }) => privateKey),
        ...(cutShort !== undefined && { cutShort }),
      }
    },
    close: () => relay.close(),
  }
}
