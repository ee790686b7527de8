import { expect } from 'chai'
import { pino } from 'pino'
import { packageVersion } from '../../../specs/index.ts'
import type { Findings } from '../../http/health.ts'
import { createServiceStatus, type ServiceStatusSources, statusRoute } from '../../http/status-page.ts'
import type { SignerState } from '../../services/signers/signers.ts'
import { lasting } from '../support/lasting.ts'

const log = pino({ level: 'silent' })
const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const allWell: Findings = [
  ['node', 'ok'],
  ['database', 'ok'],
  ['signers', 'ok'],
]
const never = () => new Promise<never>(() => {})
const away = () => Promise.reject(new Error('nobody answers at http://user:secret@node'))

interface World {
  readonly findings?: Findings
  readonly signer?: Partial<SignerState>
  readonly node?: () => Promise<unknown>
  readonly ledger?: () => Promise<unknown>
}

/** The text of the page, and its first line, as a service in this state tells it. */
async function pageOf({ findings = allWell, signer = {}, node, ledger }: World = {}) {
  const plugin = { id: 'lsp25' }
  const sources = {
    registry: { rpcMethods: new Map([['eth_<b>', {}]]), relays: [{ plugin }], quotas: new Map([['gas', {}]]) },
    services: {
      chain: { id: node ?? (async () => '0x2a') },
      upstream: { request: node ?? (async () => ({ number: '0x10', timestamp: '0x64' })) },
      relays: {
        countPending: ledger ?? (async () => 7),
        countSince: ledger ?? (async () => ({ succeeded: 3 })),
      },
      clock: { nowMs: () => 105_000 },
    },
    signers: {
      states: () => [{ address, balanceWei: 1_500_000_000_000_000_000n, isLow: false, isLeftOut: false, ...signer }],
    },
    plans: {
      byName: new Map([
        ['month', { name: 'month', model: 'gas', unit: 'gas', open: () => ({ allowance: 20_000_000n }) }],
      ]),
    },
    config: { registration: 'registered' },
    look: async () => findings,
  } as unknown as ServiceStatusSources
  const headers = new Map<string, string>()
  const set = (name: string, value: string) => headers.set(name, value)
  const ctx = { path: '/', state: { log }, type: '', body: '', set }
  await statusRoute(createServiceStatus(sources)).handle(ctx as never, never)
  const [, verdict] = /role="status">([^<]*)</.exec(ctx.body) ?? []
  return {
    html: ctx.body,
    text: ctx.body.replace(/<style>.*?<\/style>/s, '').replace(/<[^>]+>/g, ' '),
    verdict,
    headers,
  }
}

describe('the status page', () => {
  it('says first that the service works, then with what', async () => {
    const { text, html, verdict, headers } = await pageOf()
    expect(verdict).to.equal('It works')
    expect(html.indexOf('It works')).to.be.below(html.indexOf('<table'))
    expect(text).to.include('registered profiles on chain 42').and.include('16, 5 s old')
    expect(text).to.include(address).and.include('1.5').and.include('20,000,000 gas')
    expect(text)
      .to.match(/wait to be mined\s+7/)
      .and.match(/succeeded in the last 24 hours\s+3/)
    expect(text).to.include(`Touchstone ${packageVersion()}`)
    expect(headers.get('Content-Security-Policy')).to.include("default-src 'none'")
  })

  it('says what does not work, and what works in part', async () => {
    const failed = await pageOf({ findings: [...allWell.slice(0, 2), ['signers', 'failed']] })
    expect(failed.verdict).to.equal('It does not work: signers')
    const degraded = await pageOf({ findings: [...allWell.slice(0, 2), ['signers', 'degraded']] })
    expect(degraded.verdict).to.equal('It works in part: signers')
  })

  it('says of an account that its balance is low, or that the node refuses it', async () => {
    expect((await pageOf({ signer: { isLow: true, balanceWei: 0n } })).html).to.include('<span class="poor">low</span>')
    const refused = await pageOf({ signer: { isLow: true, isLeftOut: true } })
    expect(refused.html).to.include('<span class="bad">refused by the node</span>')
  })

  it('is there while node and database are not, and does not repeat what they say', async () => {
    const { text } = await pageOf({ node: away, ledger: away })
    expect(text)
      .to.include('on chain not known now')
      .and.match(/latest block\s+not known now/)
    expect(text).to.match(/wait to be mined\s+not known now/)
    expect(text).not.to.include('secret')
  })

  it('does not wait for ever', async () => {
    const { text } = await lasting([0, 10_000], () => pageOf({ node: never }))
    expect(text).to.match(/latest block\s+not known now/)
  })

  it('escapes names', async () => {
    expect((await pageOf()).html)
      .to.include('eth_&lt;b&gt;')
      .and.not.include('<b>')
  })
})
