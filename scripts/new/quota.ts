import type { Scaffold } from './scaffold.ts'

/** A quota model that counts calls. The documents' clauses on POST /quota judge it; it needs none of its own. */
export function quotaScaffold(id: string): Scaffold {
  const plugin = `server/plugins/quota/${id}.ts`
  return {
    files: new Map([
      [plugin, pluginText(id)],
      [`server/test/plugins/quota/${id}.test.ts`, testText(id)],
    ]),
    next: [
      `${plugin}: what a new account holds, what a call costs, what POST /quota shows; unit may be gas or lyx`,
      `a plan uses it, in the configuration: quota.plans.<name>.model: ${id}`,
      'npm run check   judges it by the clauses relay.quota.*, once the plan default names it',
      'npm test',
    ],
  }
}

const pluginText = (id: string) => `import { defineQuota } from '../../core/define.ts'

interface Options {
  readonly calls: number
}

const SECONDS_PER_DAY = 86_400

/** So many calls a day, whatever they cost. */
export default defineQuota<never, Options>({
  id: '${id}',
  unit: 'transactionCount',
  clauses: ['relay.quota.unit'],
  needs: [],
  options: {
    type: 'object',
    additionalProperties: false,
    properties: { calls: { description: 'Calls that a profile has in a day.', type: 'integer', minimum: 0, default: 100 } },
  },
  open: (nowSeconds, _services, { calls }) => ({
    allowance: BigInt(calls),
    resetAtSeconds: BigInt((Math.floor(nowSeconds / SECONDS_PER_DAY) + 1) * SECONDS_PER_DAY),
  }),
  remaining: ({ allowance, used, resetAtSeconds }) => ({
    quota: Number(allowance - used),
    unit: 'transactionCount',
    totalQuota: Number(allowance),
    resetDate: Number(resetAtSeconds),
  }),
  reserve: () => 1n,
  settle: () => 1n,
})
`

const testText = (id: string) => `import { expect } from 'chai'
import plugin from '../../../plugins/quota/${id}.ts'

const options = { calls: 3 }
const profile = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

describe('quota model ${id}', () => {
  it('opens an account until the next day', () => {
    const nowSeconds = Date.UTC(2026, 0, 1, 12) / 1000
    const resetAtSeconds = BigInt(Date.UTC(2026, 0, 2) / 1000)
    expect(plugin.open(nowSeconds, {}, options, profile)).to.deep.equal({ allowance: 3n, resetAtSeconds })
  })

  it('shows what is left', () => {
    const account = { profile, allowance: 3n, used: 1n, resetAtSeconds: 86_400n }
    expect(plugin.remaining(account, {}, options)).to.deep.equal({
      quota: 2,
      unit: 'transactionCount',
      totalQuota: 3,
      resetDate: 86_400,
    })
  })

  it('takes one for each call', () => {
    expect(plugin.reserve({ gasLimit: 21_000n, maxFeePerGasWei: 7n }, {}, options)).to.equal(1n)
    expect(plugin.settle({ gasUsed: 21_000n, effectiveGasPriceWei: 7n }, {}, options)).to.equal(1n)
  })
})
`
