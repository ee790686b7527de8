import type { Logger } from 'pino'
import { ZeroAddress } from 'ethers'
import { html, htmlPage, htmlTable, type Markup } from './html.ts'
import type { Route } from './route.ts'
import { packageVersion, type Config } from '../../specs/index.ts'
import { shared } from '../concurrency/shared.ts'
import type { Services } from '../core/define.ts'
import type { Registry } from '../core/registry.ts'
import { readLatestBlock } from '../services/chain/latest-block.ts'
import { amountInUnit, lyxFromWei } from '../services/quotas/models.ts'
import type { Plans } from '../services/quotas/plans.ts'
import type { Signers } from '../services/signers/signers.ts'
import type { Findings } from './health.ts'

/** `GET /`: whether the service works, for a person who opens its URL in a browser. */
export function statusRoute(readStatus: (log: Logger) => Promise<ServiceStatus>): Route {
  return {
    method: 'GET',
    path: '/',
    handle: async (ctx) => {
      // The page's relative links are those of a folder.
      if (!ctx.path.endsWith('/')) return ctx.redirect(`${ctx.path.slice(ctx.path.lastIndexOf('/') + 1)}/`)
      const status = await readStatus(ctx.state.log)
      ctx.type = 'html'
      ctx.set(
        'Content-Security-Policy',
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
      )
      ctx.set('Cache-Control', 'no-store')
      ctx.body = page(status)
    },
  }
}

function page(status: ServiceStatus): string {
  const { version, chainId, registration, findings, plugins } = status
  const served = registration === 'open' ? 'every profile' : 'registered profiles'
  const body = html`<h1>Transaction relay service</h1>
    ${verdict(findings)}
    <p>
      Sends relay calls for ${served} on chain ${shown(chainId)}, and answers Ethereum JSON-RPC.
      <a href="docs">Both interfaces, to read and to try</a>.
    </p>
    ${section(
      'Checks',
      ['Part', 'State'],
      findings.map(([name, outcome]) => [name, word(outcome)]),
    )}
    ${section(
      'Accounts that pay',
      ['Address', 'Balance in LYX', 'State'],
      status.signers.map(({ address, balance, state }) => [address, String(balance), word(state)]),
    )}
    ${section(
      'Chain and queue',
      ['What', 'Now'],
      [
        ['latest block', blockText(status.latestBlock)],
        ['relay calls that wait to be mined', shown(status.pending)],
        ...Object.entries(status.relays ?? {}).map(([outcome, count]) => [
          `${outcome} in the last 24 hours`,
          String(count),
        ]),
      ],
    )}
    ${section(
      'Quota plans',
      ['Plan', 'Model', 'Allowance of a new profile'],
      status.plans.map(({ name, model, allowance }) => [name, model, allowance]),
    )}
    ${section(
      'Plugins',
      ['Kind', 'Loaded'],
      Object.entries(plugins).map(([kind, ids]) => [kind, ids.join(', ')]),
    )}
    <p class="quiet">Touchstone ${version}</p>`
  return htmlPage('Transaction relay service', body, { style })
}

/** The first line: does it work? */
function verdict(findings: ServiceStatus['findings']): Markup {
  const named = (outcome: string) => findings.filter(([, found]) => found === outcome).map(([name]) => name)
  const [failed, degraded] = [named('failed'), named('degraded')]
  if (failed.length > 0) return line('bad', `It does not work: ${failed.join(', ')}`)
  if (degraded.length > 0) return line('poor', `It works in part: ${degraded.join(', ')}`)
  return line('good', 'It works')
}

const line = (kind: string, text: string) => html`<p class="verdict ${kind}" role="status">${text}</p>`

/** A cell whose colour shows a state; its word says the same. */
interface Word {
  readonly kind: 'good' | 'poor' | 'bad'
  readonly text: string
}

const kinds: Readonly<Record<string, Word['kind']>> = { ok: 'good', degraded: 'poor', low: 'poor' }
const word = (text: string): Word => ({ kind: kinds[text] ?? 'bad', text })

const shown = (value: string | number | undefined) => (value === undefined ? 'not known now' : String(value))

const blockText = (block: ServiceStatus['latestBlock']) =>
  block ? `${block.number}, ${block.ageSeconds} s old` : shown(undefined)

function section(title: string, heads: readonly string[], rows: readonly (readonly (string | Word)[])[]): Markup {
  const id = title.toLowerCase().replaceAll(' ', '-')
  const table = htmlTable(
    heads,
    rows.map((row) => row.map(cell)),
  )
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${rows.length === 0 ? html`<p>None.</p>` : table}
  </section>`
}

function cell(value: string | Word): string | Markup {
  if (typeof value !== 'string') return html`<span class="${value.kind}">${value.text}</span>`
  // On a narrow screen an address may break anywhere.
  return value.startsWith('0x') ? html`<span class="address">${value}</span>` : value
}

const style = `
.verdict { font-size: 1.25rem; font-weight: 600; margin: .5rem 0 1rem } .quiet { margin-top: 2rem }
.good { color: var(--good) } .poor { color: var(--poor) } .bad { color: var(--bad) }
.address { overflow-wrap: anywhere }
`

/** What the status page shows. Nothing in it is secret; a member that could not be read is undefined. */
interface ServiceStatus {
  readonly version: string
  /** The checks of `GET /readyz`. */
  readonly findings: Findings
  readonly chainId: string | undefined
  readonly latestBlock: Awaited<ReturnType<typeof readLatestBlock>> | undefined
  readonly signers: readonly {
    readonly address: string
    /** The account's balance, in the native coin. */
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
    /** The allowance of a new account, with its unit. */
    readonly allowance: string
  }[]
  readonly registration: Config['registration']
  /** By kind, the ids of the plugins. */
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

  return shared(KEPT_MS, async (log: Logger) => {
    // The checks read the balances, which are used below.
    const findings = await look(log)
    const [chainId, block, pending, lastDay] = await Promise.all([
      readable(chain.id()),
      readable(readLatestBlock(upstream, clock.nowMs())),
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
