import { ZeroAddress } from 'ethers'
import type { Logger } from 'pino'
import { packageVersion, type Config } from '../../specs/index.ts'
import { shared } from '../concurrency/shared.ts'
import type { Services } from '../core/define.ts'
import type { Registry } from '../core/registry.ts'
import { amountInUnit, lyxFromWei } from '../services/quotas/models.ts'
import type { Plans } from '../services/quotas/plans.ts'
import type { Signers } from '../services/signers/signers.ts'
import type { Findings } from './health.ts'

/** What the status page shows. Nothing in it is secret; a member that could not be read is undefined. */
export interface ServiceStatus {
  readonly version: string
  /** Of `GET /readyz`. */
  readonly findings: Findings
  readonly chainId: string | undefined
  readonly latestBlock: { readonly number: string; readonly ageSeconds: number } | undefined
  readonly signers: readonly {
    readonly address: string
    /** In the native coin. */
    readonly balance: number
    readonly state: 'ok' | 'low' | 'refused by the node'
  }[]
  /** Relay calls that wait to be mined. */
  readonly pending: number | undefined
  /** Relay calls of the last 24 hours by their status now. */
  readonly relays: Readonly<Record<string, number>> | undefined
  readonly plans: readonly {
    readonly name: string
    readonly model: string
    /** Of a new account, with its unit. */
    readonly allowance: string
  }[]
  readonly registration: Config['registration']
  /** Ids by kind. */
  readonly plugins: Readonly<Record<string, readonly string[]>>
}

export interface ServiceStatusSources {
  readonly registry: Registry
  readonly services: Services
  readonly signers: Signers
  readonly plans: Plans
  readonly config: Pick<Config, 'registration'>
  readonly look: (log: Logger) => Promise<Findings>
}

/** The status is reused for this time, in milliseconds, because reading it counts the relay calls of a day. */
const KEPT_MS = 1_000
/** After this time, in milliseconds, the page is shown without what a node or the database has not answered. */
const READ_TIMEOUT_MS = 3_000
const DAY_MS = 24 * 60 * 60 * 1000

/** Reads the status of the service. It does not throw when a node or the database does not answer. */
export function createServiceStatus(sources: ServiceStatusSources): (log: Logger) => Promise<ServiceStatus> {
  const { registry, services, signers, plans, config, look } = sources
  const { chain, relays, upstream, clock } = services
  const version = packageVersion()

  async function latestBlock(): Promise<ServiceStatus['latestBlock']> {
    const block = await upstream.request<{ number: string; timestamp: string }>('eth_getBlockByNumber', [
      'latest',
      false,
    ])
    const ageSeconds = Math.max(0, Math.floor(clock.nowMs() / 1000) - Number(block.timestamp))
    return { number: String(BigInt(block.number)), ageSeconds }
  }

  return shared(KEPT_MS, async (log: Logger) => {
    // The checks read the balances, which are used below.
    const findings = await look(log)
    const [chainId, block, pending, lastDay] = await Promise.all([
      readable(chain.id()),
      readable(latestBlock()),
      readable(relays.countPending()),
      readable(relays.countSince(clock.nowMs() - DAY_MS)),
    ])
    return {
      version,
      findings,
      chainId: chainId && String(BigInt(chainId)),
      latestBlock: block,
      signers: signers.states().map(({ address, balanceWei, isLow, isLeftOut }) => ({
        address,
        balance: lyxFromWei(balanceWei),
        state: isLeftOut ? ('refused by the node' as const) : isLow ? ('low' as const) : ('ok' as const),
      })),
      pending,
      relays: lastDay,
      plans: [...plans.byName.values()].map((plan) => {
        const { name, model, unit } = plan
        if (plan.isByProfile) return { name, model, allowance: 'by profile' }
        const { allowance } = plan.open(Math.floor(clock.nowMs() / 1000), ZeroAddress)
        return { name, model, allowance: `${amountInUnit(allowance, unit).toLocaleString('en')} ${unit}` }
      }),
      registration: config.registration,
      plugins: {
        'JSON-RPC methods': [...registry.rpcMethods.keys()],
        relays: registry.relays.map(({ plugin }) => plugin.id),
        'quota models': [...registry.quotas.keys()],
      },
    }
  })
}

/** @returns undefined when it cannot be read, or takes too long */
async function readable<Result>(reading: Promise<Result>): Promise<Result | undefined> {
  const { promise: tooLate, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, READ_TIMEOUT_MS, undefined)
  try {
    return await Promise.race([reading, tooLate])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
