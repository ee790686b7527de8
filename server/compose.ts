import type { Logger } from 'pino'
import type { Registry as MetricsRegistry } from 'prom-client'
import type { Config } from '../specs/index.ts'
import type { Secrets } from './config/environment.ts'
import type { Services } from './core/define.ts'
import type { Registry } from './core/registry.ts'
import type { ReadinessCheck } from './http/health.ts'
import { ConfigError, ServiceError } from './core/errors.ts'
import { checkResults } from './services/node/pool/answers.ts'
import { createChain, type CachedChain } from './services/chain/create-chain.ts'
import { readLatestBlock } from './services/chain/latest-block.ts'
import { createUpstream } from './services/node/create-upstream.ts'
import type { NodeConnection } from './services/node/node-connection.ts'
import { aboutProxy } from './services/node/environment-proxy.ts'
import { fillOmissions } from './services/node/omissions.ts'
import { type Upstream, budgetUpstream, translateErrors } from './services/node/upstream.ts'
import type { Clock } from './services/clock.ts'
import { openDatabase, schemaOf, type Database } from './services/database/database.ts'
import { createFollower } from './services/follower/follower.ts'
import { startJobs, type Jobs, type JobsOptions } from './services/jobs/jobs.ts'
import type { BundleLimits } from './services/ledger/draft.ts'
import { assertPlansKnown, createRegistrations } from './services/ledger/accounts.ts'
import {
  assertSameChain,
  openSignerAccounts,
  pendingCostWei,
  isLeftOut,
  refusalOf,
} from './services/ledger/signer-accounts.ts'
import { createRelays } from './services/ledger/relays.ts'
import { serveRegistrations } from './services/ledger/registrations-socket.ts'
import { startRetention } from './services/ledger/retention.ts'
import { gaugeState, meterRelays, meterUpstream } from './telemetry/metrics.ts'
import { createKeyManagerCodes } from './services/ledger/budgets.ts'
import { createProfiles } from './services/profiles/profiles.ts'
import { createPlans, type Plans } from './services/quotas/plans.ts'
import { createQuotas } from './services/ledger/admission.ts'
import { createBroadcaster } from './services/relayer/broadcast.ts'
import { findBundler } from './services/relayer/bundler.ts'
import { createExpiryCheck } from './services/relayer/expiry.ts'
import { createFeeSource } from './services/relayer/fees.ts'
import { createRelayer } from './services/relayer/relayer.ts'
import type { Relayer } from './services/relay-services.ts'
import { createRecovery } from './services/signatures/recovery.ts'
import { openKeystores, signerFromKey, createSigners, type Signers } from './services/signers/signers.ts'
import { createSequenceRunner } from './services/simulator/sequences.ts'
import { createSimulator } from './services/simulator/simulator.ts'
import type { Tracing } from './telemetry/tracing.ts'
import { traceRelays, traceUpstream } from './telemetry/traces.ts'

export interface ComposeOptions {
  readonly config: Config
  readonly secrets: Secrets
  readonly registry: Registry
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: MetricsRegistry
  /** Absent: no traces are recorded. */
  readonly tracing?: Tracing | undefined
  /** In place of the usual ones, for tests. */
  readonly timings?: Partial<Timings>
  /** Other ways to the outside than the usual ones: a simulation has its own. */
  readonly edges?: Partial<Edges>
}

/** How the services reach what lies outside of the process. */
export interface Edges {
  readonly connect: (rpcUrl: string) => NodeConnection
  readonly openDatabase: typeof openDatabase
  readonly openQueue: NonNullable<JobsOptions['openQueue']>
}

/** How patient the background work is, in milliseconds. */
export interface Timings {
  /** A transaction without a receipt is sent again with higher fees after this time. */
  readonly replaceAfterMs: number
  /** A transaction that no node has is sent again after this time. */
  readonly resendAfterMs: number
  /** After this time without a receipt, a used nonce is taken to belong to a transaction of somebody else. */
  readonly lostAfterMs: number
  /** A call is given up when nodes have refused its transaction for this time. */
  readonly refusedAfterMs: number
  /** Seconds between two looks at an account that has work left. */
  readonly lookPauseSeconds: number
}

const usualTimings: Timings = {
  replaceAfterMs: 45_000,
  resendAfterMs: 2_000,
  lostAfterMs: 5_000,
  refusedAfterMs: 15_000,
  lookPauseSeconds: 1,
}

export interface Composed {
  readonly services: Services
  readonly readinessChecks: readonly ReadinessCheck[]
  /** The database, for parts of the server that are no plugins. */
  readonly database: Database
  readonly plans: Plans
  readonly signers: Signers
  /** Finishes the work in progress, hands back the jobs, and closes everything. */
  close(): Promise<void>
  /** Makes everything that waits for a node fail now, so that `close` ends. */
  giveUp(): Promise<void>
}

/**
 * Connections to PostgreSQL, which by default takes 100 in all. A signer keeps one while it stores and sends, so a server with
 * few signers needs fewer.
 */
const POOL_SIZE = { least: 8, most: 24 }

/**
 * Builds every service in the order of their needs; they are closed in the reverse one.
 *
 * @throws ServiceError UPSTREAM_UNAVAILABLE no node answers; OperatorError;
 * ConfigError
 */
export async function composeServices(options: ComposeOptions): Promise<Composed> {
  const closers: Closers = []
  const close = async () => {
    for (const closeOne of closers.splice(0).reverse()) await closeOne()
  }
  try {
    return { ...(await compose(options, closers)), close }
  } catch (error) {
    await close()
    throw error
  }
}

type Closers = (() => Promise<void>)[]

async function compose(options: ComposeOptions, closers: Closers) {
  const { config, clock, log, metrics } = options
  const nodes = await openNodes(options, closers)
  const { upstream, budgeted, chain } = nodes
  const ledger = await openLedger(options, nodes, closers)
  const { database, plans, signers } = ledger
  const parts = createParts(options, nodes, ledger, closers)
  const jobs = await startFollowing(options, nodes, ledger, parts)
  closers.push(() => jobs.close())
  startDeleting(options, nodes, ledger, closers)
  const { folder } = config.database
  if (!database.isShared && folder !== null) {
    const registrations = createRegistrations({ db: database.db, plans, clock })
    closers.push(await serveRegistrations({ folder, chainId: nodes.chainId, registrations, log }))
  }
  const bundles = await findBundler(nodes.confirmed, config.relay, nodes.chainId)
  const relayer = openRelayer(options, nodes, ledger, { ...parts, bundles }, jobs, closers)
  // The first call would have to wait for both.
  void Promise.allSettled([parts.fees.current(), signers.refresh()])
  parts.runner.run({ sequences: [[]] }).catch(({ message: reason }: Error) => {
    log.warn({ reason }, 'the node simulates no relay calls')
  })
  const relays = createRelays({ database, plans })
  const nowMs = () => clock.nowMs()
  gaugeState(metrics, { db: database.db, upstream: nodes.metered, chain, signers, relays, jobs, nowMs, log })

  const services: Services = {
    clock,
    // A plugin need not catch a node's error: the caller gets an error of the catalogue.
    upstream: translateErrors(budgeted),
    chain,
    profiles: parts.profiles,
    recovery: parts.recovery,
    relayer,
    quotas: createQuotas({ database, plans, registration: config.registration, clock }),
    relays,
  }
  const readinessChecks: ReadinessCheck[] = [
    { name: 'node', check: async () => void (await upstream.request('eth_blockNumber', [])) },
    { name: 'database', check: () => database.assertWritable() },
    { name: 'signers', check: () => signers.assertAble() },
  ]
  return { services, readinessChecks, database, plans, signers, giveUp: () => upstream.close() }
}

/** The nodes as each part of the server asks them, and the chain behind them. */
interface Nodes {
  /** Counts calls, and writes no traces. */
  readonly metered: Upstream
  /** For following accepted calls to their end. */
  readonly upstream: Upstream
  /** For what callers ask for; see budgetUpstream. */
  readonly budgeted: Upstream
  /** For answers that decide about money: two nodes must agree. */
  readonly confirmed: Upstream
  readonly chain: CachedChain
  readonly chainId: bigint
  /** Called when blocks that were seen are no longer part of the chain. */
  onReorganised: () => void
}

/** @throws ServiceError UPSTREAM_UNAVAILABLE no node answers */
async function openNodes({ config, metrics, tracing, log, edges }: ComposeOptions, closers: Closers): Promise<Nodes> {
  const pool = createUpstream({
    ...config.chain,
    watchesHeads: config.chain.headMaxAgeMs > 0,
    log,
    ...(edges?.connect && { connect: edges.connect }),
  })
  const metered = meterUpstream(checkResults(pool), metrics)
  const upstream = fillOmissions(tracing ? traceUpstream(metered, tracing) : metered)
  closers.push(() => upstream.close())
  const budgeted = budgetUpstream(upstream, config.limits.upstreamCalls)
  const chain = createChain({
    upstream: budgeted,
    confirmations: config.chain.confirmations,
    headMaxAgeMs: config.chain.headMaxAgeMs,
    logTimeoutMs: config.limits.answerSeconds * 1000 * LOG_SHARE,
    log,
    onReorganised: () => nodes.onReorganised(),
  })
  pool.onReorganised = () => chain.forget()
  pool.onHead = () => chain.headIsOld()
  const confirmed: Upstream = {
    ...upstream,
    request: (method, params, given) => upstream.request(method, params, { ...given, confirm: true }),
  }
  // A node may report a reorganisation while the chain's id is asked for, before anything is followed.
  const nodes = { metered, upstream, budgeted, confirmed, chain, chainId: 0n, onReorganised: () => {} }
  nodes.chainId = BigInt(await chain.id().catch(unreachable(config.chain.rpcUrls)))
  return nodes
}

/** Opens the database, the ledger and the signers. @throws OperatorError; ConfigError */
async function openLedger(
  { config, secrets, registry, clock, log, edges }: ComposeOptions,
  { upstream, confirmed, chain, chainId }: Nodes,
  closers: Closers,
) {
  const accounts = [...secrets.signerKeys.map(signerFromKey), ...(await openKeystores(secrets.keystores))]
  assertDifferent(accounts)
  const database = await (edges?.openDatabase ?? openDatabase)({
    url: secrets.databaseUrl ?? null,
    folder: config.database.folder,
    schema: schemaOf(chainId),
    poolSize: Math.min(POOL_SIZE.least + accounts.length, POOL_SIZE.most),
  })
  closers.push(() => database.close())
  await assertSameChain(database.db, upstream)
  await openSignerAccounts(database.db, confirmed, accounts)
  const plans = createPlans(config.quota, registry.quotas, { clock, upstream, chain })
  await assertPlansKnown(database.db, plans)
  const signers = createSigners({
    accounts,
    upstream,
    clock,
    log,
    lowBalanceWei: BigInt(config.signers.lowBalanceWei),
    pendingCostWei: (address) => pendingCostWei(database.db, address),
    isRefused: async (address) => isLeftOut(await refusalOf(database.db, address)),
  })
  return { accounts, database, plans, signers }
}

/** @throws ConfigError two keys are of one account: its balance would count twice, and one of the two could not be left out */
function assertDifferent(accounts: readonly { readonly address: string }[]): void {
  const addresses = accounts.map(({ address }) => address)
  const twin = addresses.find((address, index) => addresses.indexOf(address) < index)
  if (twin !== undefined) throw new ConfigError([`the key of the signer ${twin} is given twice`])
}

type Ledger = Awaited<ReturnType<typeof openLedger>>

/** Makes what relayer and follower share, and their metrics. */
function createParts(
  { config, clock, log, tracing }: ComposeOptions,
  { upstream, budgeted }: Nodes,
  { accounts }: Ledger,
  closers: Closers,
) {
  const runner = createSequenceRunner({ upstream: budgeted, from: accounts[0]?.address ?? ZERO_ADDRESS })
  const recovery = createRecovery()
  closers.push(() => recovery.close())
  return {
    runner,
    fees: createFeeSource({ upstream, clock, maxFeePerGasWei: BigInt(config.relay.maxFeePerGasWei) }),
    simulator: createSimulator({ runner, gasCap: BigInt(config.relay.gasCap) }),
    profiles: createProfiles({ runner }),
    recovery,
    broadcaster: createBroadcaster({ upstream, log }),
    relayTracing: tracing && traceRelays(tracing),
  }
}

type Parts = ReturnType<typeof createParts>

/** Starts the follower, which follows every sent transaction until it is final. */
async function startFollowing(
  { config, clock, log, metrics, timings, edges }: ComposeOptions,
  nodes: Nodes,
  { accounts, database, plans, signers }: Ledger,
  { broadcaster, simulator, fees, relayTracing }: Parts,
): Promise<Jobs> {
  const meterSettlement = meterRelays(metrics)
  const follower = createFollower({
    chainId: nodes.chainId,
    database,
    upstream: nodes.confirmed,
    broadcaster,
    simulator,
    fees,
    plans,
    signerOf: signers.byAddress,
    clock,
    log,
    confirmations: config.chain.confirmations,
    ...usualTimings,
    ...timings,
    onLook: (account, isLeftOut) => signers.leaveOut(account, isLeftOut),
    onSettled: (settlement, requestId) => {
      meterSettlement(settlement)
      relayTracing?.settled(settlement, requestId)
    },
  })
  const jobs = await startJobs({
    database,
    log,
    look: (account) => follower.follow(account),
    pauseSeconds: timings?.lookPauseSeconds ?? usualTimings.lookPauseSeconds,
    isOurs: (account) => signers.byAddress(account) !== undefined,
    accountsWithWork: () => follower.accountsWithWork(),
    ...(edges?.openQueue && { openQueue: edges.openQueue }),
  })
  nodes.onReorganised = () => {
    const lookAtAll = (): void => accounts.forEach(({ address }) => jobs.request(address))
    // What was final may be open again then.
    follower.recheck().then(lookAtAll, (err: unknown) => {
      log.warn({ err }, 'what is final could not be looked at after a reorganisation')
      lookAtAll()
    })
  }
  // The chain may have been reorganised while no process followed it.
  nodes.onReorganised()
  return jobs
}

/** Starts to delete old relays, where the operator wants that. */
function startDeleting(
  { config, clock, log }: ComposeOptions,
  { upstream }: Nodes,
  { database }: Ledger,
  closers: Closers,
): void {
  const { keepDays } = config.database
  if (keepDays === null) return
  const nowMs = async () => {
    const now = clock.nowMs()
    // A clock that is ahead by years would have everything deleted: the chain's time counts where it is earlier.
    return now - (await readLatestBlock(upstream, now)).ageSeconds * 1000
  }
  const retention = startRetention({ database, keepDays, nowMs, log })
  closers.push(() => retention.close())
}

/** Makes the relayer, which accepts calls and hands stored ones to the jobs. */
function openRelayer(
  { config, clock, log }: ComposeOptions,
  { chainId, budgeted }: Nodes,
  { database, plans, signers }: Ledger,
  {
    broadcaster,
    simulator,
    profiles,
    fees,
    relayTracing,
    bundles,
  }: Parts & { readonly bundles: BundleLimits | undefined },
  jobs: Jobs,
  closers: Closers,
): Relayer {
  const relayer = createRelayer({
    chainId,
    database,
    broadcaster,
    simulator: relayTracing?.simulator(simulator) ?? simulator,
    profiles,
    signers,
    fees,
    assertLasts: createExpiryCheck({
      upstream: budgeted,
      clock,
      minValiditySeconds: config.relay.minValiditySeconds,
    }),
    plans,
    registration: config.registration,
    unregistered: config.unregistered,
    keyManagerCodes: createKeyManagerCodes(budgeted, config.unregistered.knownCodes),
    gasPaddingPercent: config.relay.gasPaddingPercent,
    gasCap: BigInt(config.relay.gasCap),
    maxFeePerGasWei: BigInt(config.relay.maxFeePerGasWei),
    maxTransactionBytes: config.relay.maxTransactionBytes,
    bundles,
    clock,
    log,
    onStored: (account) => jobs.request(account),
    ...(relayTracing && { observer: relayTracing.observer }),
  })
  closers.push(() => relayer.close())
  return relayTracing?.relayer(relayer) ?? relayer
}

/**
 * Throws an error that names the nodes, without what may be secret in their URLs. @throws ServiceError
 * UPSTREAM_UNAVAILABLE
 */
function unreachable(rpcUrls: readonly string[]) {
  return (cause: unknown): never => {
    const hosts = rpcUrls.map((url) => new URL(url).host).join(', ')
    const reason = cause instanceof Error ? cause.message.replace(/^Upstream unavailable: /, '') : String(cause)
    throw new ServiceError(
      'UPSTREAM_UNAVAILABLE',
      `no node of chain.rpcUrls answers: ${hosts} (${reason}${aboutProxy()})`,
      { cause },
    )
  }
}

/** Share of the time of an answer that a page of logs may use: the rest is left for saying how far it has come. */
const LOG_SHARE = 0.9
const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'
