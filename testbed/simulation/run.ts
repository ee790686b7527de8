import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { loadArtifact } from '../../contracts/artifacts.ts'
import type { Config } from '../../specs/index.ts'
import { parseConfig } from '../../server/config/load.ts'
import { discoverFolder, createRegistry, type Registry } from '../../server/core/registry.ts'
// Where Services gets its members `relays` and `quotas`.
import type {} from '../../server/services/relay-services.ts'
import { callTransitions } from '../../server/services/ledger/lifecycle.ts'
import { toRow } from '../../server/services/ledger/accounts.ts'
import { openAccount, createPlans, type Plans } from '../../server/services/quotas/plans.ts'
import { acceptedAs, audit, MOST_PLANNED, statusName, type Evidence } from './audit.ts'
import { BUNDLER_ADDRESS } from './contracts.ts'
import { Callers, profilesOf, signCall, signerAddresses, signerKeys } from './callers.ts'
import { receiptsUpTo, SimulatedChain, STRANGER } from './chain.ts'
import { Cluster, emptyStorage, openStorage, type Storage } from './cluster.ts'
import { StoredJobs, SimulatedServer } from './server.ts'
import { connectTo } from './network.ts'
import { SimulatedNode } from './node.ts'
import { Operator, PLAN_NAMES } from './operator.ts'
import { probesOf, type Plan, type WorldPlan } from './plan.ts'
import { createRandom } from './random.ts'
import { CHAIN_BEGINS, RICH_WEI, Weather } from './weather.ts'
import { enter, takeOverGlobals, WorldTime } from './world-time.ts'

/** Things that a process makes once and uses in every run. */
export interface Laboratory {
  readonly storage: Storage
  readonly registry: Registry
  readonly config: Config
  /** Code of the contract `Bundler.sol`, hex. */
  readonly bundlerCode: string
}

/** The outcome of a run. */
export interface Outcome {
  readonly seed: number
  /** The promises that were broken. Empty: the run is good. */
  readonly faults: readonly string[]
  readonly story: readonly string[]
  readonly trace: readonly string[]
  /** SHA-256 of the trace: the same for the same plan. */
  readonly digest: string
  readonly virtualMs: number
  readonly accepted: number
  /** How often each transition of a relay call was seen, by `from > event`. */
  readonly transitions: Readonly<Record<string, number>>
  /** Transactions that carry several calls, and are mined. */
  readonly bundles: number
  /** Transactions of a stranger that carry calls of others, and are mined. */
  readonly copies: number
}

const transitionName = (from: string, event: string) => `${from} > ${event}`

/** Once the weather is fine, every call has to be settled within this time, or within so many blocks if that is longer. */
const LIMIT_MS = 120_000
const LIMIT_BLOCKS = 60
const LOOK_MS = 2_000
const ASK_MS = 15_000

export async function openLaboratory(): Promise<Laboratory> {
  takeOverGlobals()
  const registry = createRegistry(
    await discoverFolder(fileURLToPath(new URL('../../server/plugins/', import.meta.url))),
  )
  const tree = { chain: { rpcUrls: ['http://node'] }, relay: { maxFeePerGasWei: String(10n ** 14n) } }
  const { deployedBytecode: bundlerCode } = await loadArtifact('Bundler')
  return { storage: await openStorage(), registry, config: parseConfig(tree, 'simulation', '/'), bundlerCode }
}

/** Runs a plan, and audits the run. */
export async function run(plan: Plan, laboratory: Laboratory): Promise<Outcome> {
  const { storage } = laboratory
  await emptyStorage(storage)
  const time = new WorldTime(plan.seed)
  const died: string[] = []
  const onRejection = (error: unknown) => {
    died.push(`a promise was rejected and nobody heard: ${error instanceof Error ? error.stack : String(error)}`)
  }
  const transitions: Record<string, number> = {}
  const onTransition = (message: unknown) => {
    const { from, event } = message as { from: string; event: string }
    const name = transitionName(from, event)
    transitions[name] = (transitions[name] ?? 0) + 1
  }
  process.on('unhandledRejection', onRejection)
  callTransitions.subscribe(onTransition)
  enter(time)
  try {
    const evidence = await live(plan, laboratory, time)
    const faults = [...died, ...audit(evidence)]
    const receipts = receiptsUpTo(evidence.chain.head).map(({ receipt }) => receipt)
    for (const fault of faults) time.tell(`BROKEN: ${fault}`)
    return {
      seed: plan.seed,
      faults,
      story: time.story,
      trace: time.trace,
      digest: createHash('sha256').update(time.trace.join('\n')).digest('hex'),
      virtualMs: time.nowMs,
      transitions,
      accepted: evidence.calls.filter(({ heard }) => heard.some(({ kind }) => kind === 'accepted')).length,
      bundles: receipts.filter(({ outcomes }) => outcomes.length > 1).length,
      copies: receipts.filter(({ transaction }) => transaction.from === STRANGER).length,
    }
  } finally {
    enter(undefined)
    process.off('unhandledRejection', onRejection)
    callTransitions.unsubscribe(onTransition)
  }
}

async function live(plan: Plan, laboratory: Laboratory, time: WorldTime): Promise<Evidence> {
  const { seed, world } = plan
  const random = createRandom(seed, 'run')
  const profiles = profilesOf(plan)
  const addresses = signerAddresses.slice(0, world.accounts)
  const balances = new Map([...addresses, STRANGER].map((address) => [address.toLowerCase(), RICH_WEI]))
  const { storage, bundlerCode } = laboratory
  const chain = new SimulatedChain({ profiles, balances, timestamp: CHAIN_BEGINS, bundlerCode })
  const nodes = world.nodes.map((rules, index) => new SimulatedNode(`node${index}`, chain, rules))
  const cluster = new Cluster({ time, random: random.stream('database'), storage, isShared: world.isShared })
  const sent: Evidence['sent'] = []
  const servers = startServers({
    plan,
    laboratory,
    time,
    chain,
    nodes,
    cluster,
    sent,
    line: (at) => weather.lineTo(at),
  })
  const plans = createPlans(quotaPlansOf(world), laboratory.registry.quotas, {})
  const operator = new Operator({ time, plan, cluster, plans })
  const parts = { time, plan, chain, nodes, servers, cluster, operator }
  const weather: Weather = new Weather({ ...parts, random: random.stream('weather') })
  await register(plan, plans, storage)
  weather.start()
  for (const server of servers) server.start()
  const callers = new Callers({ time, random: random.stream('callers'), servers })
  const calls = [...plan.calls, ...probesOf(plan)].map(signCall)
  for (const call of calls) callers.plan(call)

  await time.runUntil(plan.calmFromMs)
  let isEnded = false
  const limitMs = Math.max(LIMIT_MS, (LIMIT_BLOCKS * world.blockMs) / world.inclusion)
  while (!isEnded && time.nowMs < plan.calmFromMs + limitMs) {
    await time.runUntil(time.nowMs + LOOK_MS)
    isEnded = callers.active === 0 && !cluster.isBusy && (await isAtRest(storage, chain, addresses))
  }
  const evidence: Evidence = {
    plan,
    calls,
    chain,
    sent,
    addresses,
    isEnded,
    unanswered: callers.active,
    ledger: undefined,
    planned: 0,
    suspensions: operator.suspensions,
    accounts: await storage.db.selectFrom('signer_accounts').selectAll().orderBy('address').execute(),
    open: await storage.db.selectFrom('relays').selectAll().where('final', '=', false).orderBy('hash').execute(),
    attempts: await storage.db.selectFrom('attempts').selectAll().orderBy('hash').execute(),
    relays: await storage.db.selectFrom('relays').selectAll().orderBy('hash').execute(),
    budgets: await storage.db.selectFrom('budgets').selectAll().orderBy('scope').execute(),
    profiles: await storage.db.selectFrom('profiles').selectAll().orderBy('address').execute(),
  }
  return askAtTheEnd(evidence, servers, time, profiles)
}

/**
 * Whether no call is open, and the chain has used every nonce that was given to a transaction. A nonce that somebody else had
 * used, and that a reorganisation has freed, may stay free until the account sends something again.
 */
async function isAtRest({ db }: Storage, chain: SimulatedChain, addresses: readonly string[]): Promise<boolean> {
  const open = await db.selectFrom('relays').select('hash').where('final', '=', false).limit(1).execute()
  if (open.length > 0) return false
  const rows = await db.selectFrom('signer_accounts').select(['address', 'next_nonce']).execute()
  return addresses.every((address) => {
    const next = rows.find((row) => row.address === address)?.next_nonce ?? 0
    let nonce = chain.head.state.nonces.get(address.toLowerCase()) ?? 0
    while (chain.stolen.has(`${address.toLowerCase()}/${nonce}`)) nonce++
    return nonce >= Number(next)
  })
}

interface ServerParts {
  readonly plan: Plan
  readonly laboratory: Laboratory
  readonly time: WorldTime
  readonly chain: SimulatedChain
  readonly nodes: readonly SimulatedNode[]
  readonly cluster: Cluster
  readonly sent: Evidence['sent']
  readonly line: (node: number) => ReturnType<Weather['lineTo']>
}

function startServers({ plan, laboratory, time, chain, nodes, cluster, sent, line }: ServerParts): SimulatedServer[] {
  const { seed, world } = plan
  const config: Config = {
    ...laboratory.config,
    chain: {
      rpcUrls: nodes.map(({ name }) => `http://${name}`),
      confirmations: world.confirmations,
      headMaxAgeMs: 0,
      requestTimeoutMs: 5_000,
    },
    ...registrationIn(world, laboratory.config),
    quota: { ...laboratory.config.quota, ...(quotaPlansOf(world) as Pick<Config['quota'], 'plans' | 'defaultPlan'>) },
  }
  const bundle = world.bundleCalls === null ? undefined : { contract: BUNDLER_ADDRESS, maxCalls: world.bundleCalls }
  const keys = signerKeys.slice(0, world.accounts)
  const jobs = new StoredJobs(time, createRandom(seed, 'jobs'))
  const network = createRandom(seed, 'network')
  return Array.from({ length: world.servers }, (_, index) => {
    const name = `server ${index}`
    return new SimulatedServer({
      ...laboratory,
      name,
      time,
      cluster,
      jobs,
      config: { ...config, relay: { ...config.relay, ...(bundle && world.bundling[index] && { bundle }) } },
      timings: world.timings,
      signerKeys: keys.filter((_, account) => account !== world.lacking[index]),
      connect: (process, rpcUrl) => {
        const at = nodes.findIndex((node) => rpcUrl === `http://${node.name}`)
        const node = nodes[at] as SimulatedNode
        return connectTo({
          time,
          random: network.stream(`${process.name} ${at}`),
          process,
          node,
          line: () => line(at),
          read: (raw) => chain.read(raw),
          onSent: (raw, answer) => {
            const transaction = chain.read(raw)
            sent.push({ atMs: time.nowMs, transaction, node: node.name, answer })
            time.tell(
              `${process.name} sends ${transaction.hash.slice(0, 10)} (${transaction.nonce}) to ${node.name}: ${answer}`,
            )
          },
        })
      },
    })
  })
}

/** Where profiles are not registered, their code is not known either. */
function registrationIn({ unregisteredGas: gas }: WorldPlan, { unregistered }: Config) {
  if (gas === null) return { registration: 'registered' } as const
  const limits = { ...unregistered, unknownCodeGasPerHour: gas, gasPerHour: 2 * gas, gasPerDay: 2 * gas }
  return { registration: 'open', unregistered: { ...limits, unknownCodeGasPerDay: 2 * gas } } as const
}

/** Two plans that differ in nothing but their names. */
function quotaPlansOf({ quota }: WorldPlan) {
  return { defaultPlan: PLAN_NAMES[0], plans: Object.fromEntries(PLAN_NAMES.map((name) => [name, quota])) }
}

/** Every profile is registered and has its account, unless the servers relay for everybody. */
async function register(plan: Plan, plans: Plans, storage: Storage): Promise<void> {
  if (plan.world.unregisteredGas !== null) return
  const { resetSeconds } = plan.world
  const rows = profilesOf(plan).map(({ address }) => {
    const account = openAccount(address, plans.defaultPlan, true, CHAIN_BEGINS)
    return toRow(resetSeconds === null ? account : { ...account, resetAtSeconds: BigInt(CHAIN_BEGINS + resetSeconds) })
  })
  await storage.db.insertInto('profiles').values(rows).execute()
}

/** Asks a server for the status of the calls, as callers do. */
async function askAtTheEnd(
  evidence: Evidence,
  servers: readonly SimulatedServer[],
  time: WorldTime,
  profiles: ReturnType<typeof profilesOf>,
): Promise<Evidence> {
  const server = servers.find(({ services }) => services !== undefined)
  if (!server) return evidence
  const accepted = evidence.calls.flatMap((call) => acceptedAs(call).map((hash) => ({ call, hash })))
  let ledger: Evidence['ledger']
  let isAnswered = false
  void server
    .request(
      async ({ relays, quotas }) => ({
        statuses: new Map(
          await Promise.all(
            accepted.map(async ({ call, hash }) => {
              const { profile, request, signer } = call
              const wanted = { profile: profile.address, signer, nonce: request.transaction.nonce }
              return [statusName(call, hash), await relays.status(hash, wanted)] as const
            }),
          ),
        ),
        quotas: new Map(
          await Promise.all(profiles.map(async ({ address }) => [address, await quotas.remaining(address)] as const)),
        ),
      }),
      () => new Error('the server is gone'),
    )
    .then(
      (answer) => (ledger = answer),
      // The audit reports that no server answers at the end.
      (error: Error) => time.tell(`asked at the end: ${error.message}`),
    )
    .finally(() => (isAnswered = true))
  const untilMs = time.nowMs + ASK_MS
  const planned = (): number => Math.max(...servers.map(({ process }) => process.planned))
  while ((!isAnswered || planned() > MOST_PLANNED) && time.nowMs < untilMs) await time.runUntil(time.nowMs + LOOK_MS)
  return { ...evidence, ledger, planned: planned() }
}
