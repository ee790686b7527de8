import type { Answer } from './answer.ts'
import { type ChainTruth, connectChain, noChain } from './chain-truth.ts'
import type { Account, Fixture } from './fixture.ts'
import type { HttpClient } from './http.ts'
import { stringify } from './lossless-json.ts'
import { redactUrl } from './redact.ts'
import { permissions, permissionsKey, readData, readOwner } from './relay/contracts.ts'
import { type AdjustableClock } from './target-clock.ts'
import { endpointsOf, type Target } from './target.ts'
import { Untestable, UsageError } from './outcome.ts'
import { unusedProxy } from './unused-proxy.ts'
import { ourTimeMs } from './world.ts'

async function ask(http: HttpClient, url: string, body: unknown): Promise<Answer> {
  const request = { url, method: 'POST', headers: { 'content-type': 'application/json' }, body: stringify(body) }
  const first = await http.send(request)
  // The first request may wake a sleeping service, so a timeout is asked again.
  return first.failure?.kind === 'timeout' ? http.send(request) : first
}

/**
 * Makes sure that the target answers before a check judges it, and reads the target's clock. No request of this
 * function can spend.
 *
 * @throws UsageError when nobody answers at one of the hosts
 */
export async function probe(http: HttpClient, target: Target, clock: AdjustableClock): Promise<void> {
  const { quota, rpc } = endpointsOf(target)
  const asked: Promise<readonly [string, Answer]>[] = []
  if (target.relayUrl !== null) {
    const sentAtMs = ourTimeMs()
    asked.push(
      ask(http, quota.url, {}).then((answer) => {
        clock.see(answer.headers['date'], sentAtMs, ourTimeMs())
        return [quota.url, answer]
      }),
    )
  }
  if (target.ethRpcUrl !== null) {
    const body = { id: 1, jsonrpc: '2.0', method: 'eth_chainId', params: [] }
    asked.push(ask(http, rpc.url, body).then((answer) => [rpc.url, answer]))
  }
  const answers = await Promise.all(asked)
  const hosts = Map.groupBy(answers, ([url]) => new URL(url).host)
  for (const found of hosts.values()) {
    const [first] = found
    // A service may close the connection to refuse the empty body of POST /quota. Where this is the only request, it is
    // no proof that nobody is there.
    const mayRefuse = found.every(([url]) => url === quota.url)
    if (first && found.every(([, { failure }]) => failure && !(mayRefuse && failure.kind === 'closed'))) {
      const [url, { failure }] = first
      throw new UsageError(`the target does not answer at ${redactUrl(url)}: ${failure?.message}${unusedProxy(url)}`)
    }
  }
}

async function holds(chain: ChainTruth, profile: string, controller: Account): Promise<(keyof typeof permissions)[]> {
  const value = await readData(chain, profile, permissionsKey(controller.address))
  const bits = BigInt(value === '0x' ? 0 : value)
  return (['SIGN', 'EXECUTE_RELAY_CALL'] as const).filter((name) => (bits & permissions[name]) !== 0n)
}

/**
 * Compares the chain with the fixture, since the checks would blame the target for a wrong fixture.
 *
 * @returns the first difference, in one line; undefined when the fixture fits
 * @throws Untestable when the node does not answer
 */
export async function verifyFixture(chain: ChainTruth, fixture: Fixture): Promise<string | undefined> {
  const { profile, controllers } = fixture
  for (const [name, address] of Object.entries(profile)) {
    if ((await chain.send('eth_getCode', [address, 'latest'])) === '0x')
      return `there is no contract at ${name} ${address}`
  }
  const owner = await readOwner(chain, profile.address)
  if (owner.toLowerCase() !== profile.keyManager.toLowerCase()) return `the owner of the profile is ${owner}`
  const expected = { full: 'SIGN,EXECUTE_RELAY_CALL', noSign: 'EXECUTE_RELAY_CALL', noRelay: 'SIGN' } as const
  for (const name of ['full', 'noSign', 'noRelay'] as const) {
    const held = (await holds(chain, profile.address, controllers[name])).join()
    if (held !== expected[name])
      return `the controller ${name} holds ${held || 'neither'} of SIGN and EXECUTE_RELAY_CALL`
  }
  return undefined
}

/** What the caller of a run gave beside the target. */
interface Given {
  readonly rpcUrl?: string
  readonly fixture?: Fixture
}

/**
 * Connects to the chain's node, or says why there is none. Without a chain the run still judges what needs no chain.
 */
export async function chainOf(
  { rpcUrl, fixture }: Given,
  notes: string[],
): Promise<{ chain: ChainTruth; hasChain: boolean }> {
  const url = rpcUrl ?? fixture?.chain.rpcUrl
  if (url === undefined)
    return { chain: noChain('no chain to compare with: give a node with --rpc-url or --fixture'), hasChain: false }
  try {
    return { chain: await connectChain(url), hasChain: true }
  } catch (error) {
    if (!(error instanceof Untestable)) throw error
    const reason = `the chain cannot be asked: ${error.message}`
    notes.push(reason)
    return { chain: noChain(reason), hasChain: false }
  }
}

/**
 * The fixture, or why the run has none.
 *
 * @throws UsageError when the fixture is of another chain than the node
 */
export async function fixtureOf(
  { fixture }: Given,
  chain: ChainTruth,
  hasChain: boolean,
  notes: string[],
): Promise<Fixture | { readonly missing: string }> {
  if (!fixture) return { missing: 'no fixture: give one with --fixture; the command provision makes it' }
  if (hasChain && chain.chainId !== BigInt(fixture.chain.chainId)) {
    throw new UsageError(`the fixture is of chain ${fixture.chain.chainId}, and the node is of chain ${chain.chainId}`)
  }
  const wrong = hasChain
    ? await verifyFixture(chain, fixture).catch((error: unknown) => (error as Error).message)
    : undefined
  if (wrong === undefined) return fixture
  const missing = `the fixture does not fit the chain: ${wrong}`
  notes.push(missing)
  return { missing }
}
