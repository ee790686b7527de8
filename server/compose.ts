import type { Logger } from 'pino'
import type { Registry as MetricsRegistry } from 'prom-client'
import type { Config } from '../specs/index.ts'
import type { Secrets } from './config/secrets.ts'
import type { Services } from './core/define.ts'
import type { Registry } from './core/registry.ts'
import type { ReadinessCheck } from './http/health.ts'
import { ServiceError } from './core/errors.ts'
import { checkResults } from './services/node/check-results.ts'
import { createChain } from './services/chain/create-chain.ts'
import { createUpstream } from './services/node/create-upstream.ts'
import type { Upstream } from './services/node/upstream.ts'
import { translateErrors } from './services/node/translate-errors.ts'
import type { Clock } from './services/clock.ts'
import { openDatabase, schemaOf, type Database } from './services/database/database.ts'
import { createFollower } from './services/follower/follower.ts'
import { startJobs, type Jobs } from './services/jobs/jobs.ts'
import { assertPlansKnown, assertSameChain, openSignerAccounts, pendingCostWei } from './services/ledger/opening.ts'
import { accountsWithOpenRelays } from './services/ledger/open-relays.ts'
import { isLeftOut, refusalOf } from './services/ledger/refusals.ts'
import { createRelays } from './services/ledger/relays.ts'
import { gaugeState } from './telemetry/gauges.ts'
import { meterRelays, meterUpstream } from './telemetry/metrics.ts'
import { createKeyManagerCodes } from './services/ledger/key-manager-codes.ts'
import { createProfiles } from './services/profiles/profiles.ts'
import { createPlans, type Plans } from './services/quotas/plans.ts'
import { createQuotas } from './services/ledger/quotas.ts'
import { createBroadcaster } from './services/relayer/broadcast.ts'
import { createExpiryCheck } from './services/relayer/expiry.ts'
import { createFeeSource } from './services/relayer/fees.ts'
import { createRelayer } from './services/relayer/relayer.ts'
import { createRecovery } from './services/signatures/recovery.ts'
import { openKeystores } from './services/signers/keystore.ts'
import { signerFromKey } from './services/signers/signer-account.ts'
import { createSigners, type Signers } from './services/signers/signers.ts'
import { createSequenceRunner } from './services/simulator/sequences.ts'
import { createSimulator } from './services/simulator/simulator.ts'
import type { Tracing } from './telemetry/tracing.ts'
import { traceRelays } from './telemetry/trace-relays.ts'
import { traceUpstream } from './telemetry/trace-upstream.ts'
import { budgetUpstream } from './services/node/upstream-budget.ts'

export interface ComposeOptions {
  readonly config: Config
  readonly secrets: Secrets
  readonly registry: Registry
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: MetricsRegistry
  /** Absent: nobody wants traces. */
  readonly tracing?: Tracing | undefined
  /** Other than the usual ones: tests are in a hurry. */
  readonly timings?: Partial<Timings>
}

/** How patient the background work is, in milliseconds. */
export interface Timings {
  /** A transaction without a receipt is sent again with higher fees after this time. */
  readonly replaceAfterMs: number
  /** A transaction that no node has is sent again after this time. */
  readonly resendAfterMs: number
  /** A nonce is held to be used by something else after this time without a receipt. */
  readonly lostAfterMs: number
  /** A call is given up whose transaction the node has refused for this time. */
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
  /** The ledger and the plans, for what is no plugin. */
  readonly database: Database
  readonly plans: Plans
  readonly signers: Signers
  /** Answers what is under way, hands back the jobs, closes everything. */
  close(): Promise<void>
  /** Makes what waits for a node fail now, so that `close` ends. */
  giveUp(): Promise<void>
}

/** Connections to PostgreSQL beside one for each signer, which holds it while it sends. */
const POOL_SIZE = 8

/**
 * Builds every service in the order of their needs; they are closed in the reverse one.
 *
 * @throws ServiceError UPSTREAM_UNAVAILABLE no node answers; OperatorError;
 * ConfigError
 */
export async function composeServices(options: ComposeOptions): Promise<Composed> {
  const closers: (() => Promise<void>)[] = []
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

async function compose(
  { config, secrets, registry, clock, log, metrics, tracing, timings }: ComposeOptions,
  closers: (() => Promise<void>)[],
) {
  const { confirmations } = config.chain
  const nodes = createUpstream({ ...config.chain, log })
  const metered = meterUpstream(checkResults(nodes), metrics)
  const upstream = tracing ? traceUpstream(metered, tracing) : metered
  // For what callers ask for. What was accepted is followed to its end.
  const budgeted = budgetUpstream(upstream, config.limits.upstreamCalls)
  const relayTracing = tracing && traceRelays(tracing)
  closers.push(() => upstream.close())
  const logTimeoutMs = config.limits.answerSeconds * 1000 * LOG_SHARE
  let followAll = () => {}
  const chain = createChain({ upstream: budgeted, confirmations, logTimeoutMs, log, onReorganised: () => followAll() })
  nodes.onReorganised = () => chain.forget()
  // What decides about money.
  const confirmed: Upstream = {
    ...upstream,
    request: (method, params, given) => upstream.request(method, params, { ...given, confirm: true }),
  }
  const chainId = BigInt(await chain.id().catch(unreachable(config.chain.rpcUrls)))

  const accounts = [...secrets.signerKeys.map(signerFromKey), ...(await openKeystores(secrets.keystores))]
  const database = await openDatabase({
    url: secrets.databaseUrl ?? null,
    folder: config.database.folder,
    schema: schemaOf(chainId),
    poolSize: POOL_SIZE + accounts.length,
  })
  closers.push(() => database.close())
  await assertSameChain(database.db, upstream)
  await openSignerAccounts(database.db, confirmed, accounts)

  const plans = createPlans(config.quota, registry.quotas, { clock, upstream, chain })
  await assertPlansKnown(database.db, plans)
  const fees = createFeeSource({ upstream, clock, maxFeePerGasWei: BigInt(config.relay.maxFeePerGasWei) })
  const signers = createSigners({
    accounts,
    upstream,
    clock,
    log,
    lowBalanceWei: BigInt(config.signers.lowBalanceWei),
    pendingCostWei: (address) => pendingCostWei(database.db, address),
    isRefused: async (address) => isLeftOut(await refusalOf(database.db, address)),
  })
  const runner = createSequenceRunner({ upstream: budgeted, from: accounts[0]?.address ?? ZERO_ADDRESS })
  const simulator = createSimulator({ runner, gasCap: BigInt(config.relay.gasCap) })
  const profiles = createProfiles({ runner })
  const recovery = createRecovery()
  closers.push(() => recovery.close())
  const quotas = createQuotas({ database, plans, registration: config.registration, clock })
  const relays = createRelays({ database, plans })

  const broadcaster = createBroadcaster({ upstream, log })
  const meterSettlement = meterRelays(metrics)
  const follower = createFollower({
    chainId,
    database,
    upstream: confirmed,
    broadcaster,
    simulator,
    fees,
    plans,
    signerOf: signers.byAddress,
    clock,
    log,
    confirmations,
    ...usualTimings,
    ...timings,
    onLook: (account, isLeftOut) => signers.leaveOut(account, isLeftOut),
    onSettled: (settlement, requestId) => {
      meterSettlement(settlement)
      relayTracing?.settled(settlement, requestId)
    },
  })
  const jobs: Jobs = await startJobs({
    database,
    log,
    look: (account) => follower.follow(account),
    pauseSeconds: timings?.lookPauseSeconds ?? usualTimings.lookPauseSeconds,
    accountsWithWork: () => accountsWithOpenRelays(database.db),
  })
  followAll = () => {
    for (const { address } of accounts) jobs.request(address)
  }
  // The chain may have been reorganised while no process followed it.
  followAll()
  closers.push(() => jobs.close())
  const nowMs = () => clock.nowMs()
  gaugeState(metrics, { db: database.db, upstream: metered, chain, signers, relays, jobs, nowMs, log })
  const bareRelayer = createRelayer({
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
    clock,
    log,
    onStored: (account) => jobs.request(account),
    ...(relayTracing && { observer: relayTracing.observer }),
  })
  closers.push(() => bareRelayer.close())
  const relayer = relayTracing?.relayer(bareRelayer) ?? bareRelayer

  // Plugins may let the node's errors pass: they reach the caller as errors of the catalogue.
  const services: Services = {
    clock,
    upstream: translateErrors(budgeted),
    chain,
    profiles,
    recovery,
    relayer,
    quotas,
    relays,
  }
  const readinessChecks: ReadinessCheck[] = [
    { name: 'node', check: async () => void (await upstream.request('eth_blockNumber', [])) },
    { name: 'database', check: () => database.assertWritable() },
    { name: 'signers', check: () => signers.assertAble() },
  ]
  return { services, readinessChecks, database, plans, signers, giveUp: () => upstream.close() }
}

/** Says which nodes were asked, without what may be secret in their URLs. @throws ServiceError UPSTREAM_UNAVAILABLE */
function unreachable(rpcUrls: readonly string[]) {
  return (cause: unknown): never => {
    const hosts = rpcUrls.map((url) => new URL(url).host).join(', ')
    const reason = cause instanceof Error ? cause.message.replace(/^Upstream unavailable: /, '') : String(cause)
    throw new ServiceError('UPSTREAM_UNAVAILABLE', `no node of chain.rpcUrls answers: ${hosts} (${reason})`, { cause })
  }
}

/** Of the time of an answer: what is left is enough to tell how far a page of logs has come. */
const LOG_SHARE = 0.9
const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'
