import { expect } from 'chai'
import {
  accountNow,
  availableIn,
  moveReservation,
  openAccount,
  type Plan,
  createOpenings,
  inTime,
  OpeningUnderWay,
  whenOpened,
} from '../../../services/quotas/plans.ts'
import { nextReset, amountInUnit, floorToNumber, lyxFromWei } from '../../../services/quotas/models.ts'
import { ServiceError } from '../../../core/errors.ts'
import type { OpenedAccount } from '../../../core/define.ts'

const seconds = (text: string) => Date.parse(text) / 1000
const resetOf = (period: 'day' | 'week' | 'month', text: string) =>
  new Date(Number(nextReset(period, seconds(text))) * 1000).toISOString()

describe('quotas', () => {
  describe('resets', () => {
    for (const [period, now, reset] of [
      ['month', '2026-01-31T23:59:59Z', '2026-02-01T00:00:00.000Z'],
      ['month', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00.000Z'],
      ['day', '2028-02-28T12:00:00Z', '2028-02-29T00:00:00.000Z'],
      ['day', '2026-03-01T00:00:00Z', '2026-03-02T00:00:00.000Z'],
      ['week', '2026-11-21T10:00:00Z', '2026-11-23T00:00:00.000Z'],
      ['week', '2026-11-22T23:59:59Z', '2026-11-23T00:00:00.000Z'],
      ['week', '2026-11-23T00:00:00Z', '2026-11-30T00:00:00.000Z'],
    ] as const) {
      it(`after ${now}, each ${period}, at ${reset}`, () => {
        expect(resetOf(period, now)).to.equal(reset)
      })
    }
  })

  describe('numbers', () => {
    it('are never above the amount, never NaN, never below zero', () => {
      expect(floorToNumber(-5n)).to.equal(0)
      for (const amount of [0n, 1n, 2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 60n - 1n, 10n ** 30n - 1n, 2n ** 256n - 1n]) {
        const number = floorToNumber(amount)
        expect(Number.isFinite(number)).to.equal(true)
        expect(BigInt(number) <= amount).to.equal(true)
        expect(amount - BigInt(number) < amount / 2n ** 51n + 1n).to.equal(true)
      }
    })

    it('show wei as LYX, rounded down to the gwei', () => {
      expect(lyxFromWei(1_500_000_000_000_000_000n)).to.equal(1.5)
      expect(lyxFromWei(999_999_999n)).to.equal(0)
      expect(lyxFromWei(1_999_999_999n)).to.equal(1e-9)
      expect(amountInUnit(7n, 'gas')).to.equal(7)
    })
  })

  describe('accounts', () => {
    const plan = {
      name: 'default',
      open: (nowSeconds: number) => ({ allowance: 100n, resetAtSeconds: BigInt(nowSeconds + 10) }),
    } as unknown as Plan
    const plans = { defaultPlan: plan, byName: new Map([['default', plan]]) }
    const opened = openAccount('0x1', plan, false, 1000)

    it('take what is there, and no more', () => {
      const { account, taken } = moveReservation(opened, 0n, 70n)
      expect({ taken, used: account.used, left: availableIn(account) }).to.deep.equal({
        taken: 70n,
        used: 70n,
        left: 30n,
      })
      const grown = moveReservation(account, 70n, 120n)
      expect({ taken: grown.taken, used: grown.account.used }).to.deep.equal({ taken: 100n, used: 100n })
      const settled = moveReservation(grown.account, 100n, 20n)
      expect({ taken: settled.taken, used: settled.account.used }).to.deep.equal({ taken: 20n, used: 20n })
    })

    it('give back what a relay did not use, also where more is used than the allowance', () => {
      const lowered = { ...moveReservation(opened, 0n, 100n).account, allowance: 50n }
      const settled = moveReservation(lowered, 100n, 90n)
      expect({ taken: settled.taken, used: settled.account.used }).to.deep.equal({ taken: 90n, used: 90n })
      const grown = moveReservation(lowered, 100n, 110n)
      expect({ taken: grown.taken, used: grown.account.used }).to.deep.equal({ taken: 100n, used: 100n })
    })

    it('begin anew when the reset is due, and not before', () => {
      const { account } = moveReservation(opened, 0n, 70n)
      expect(accountNow(account, plans, 1009)).to.equal(account)
      const anew = accountNow(account, plans, 1010)
      expect(anew).to.deep.include({ used: 0n, allowance: 100n, period: account.period + 1 })
      expect(anew.resetAtSeconds).to.equal(1020n)
    })

    it('end with the period that runs now when a clock that was ahead has stored a later reset', () => {
      const byDay = (nowSeconds: number) => ({ allowance: 100n, resetAtSeconds: nextReset('day', nowSeconds) })
      const daily = { ...plan, open: byDay } as Plan
      const dailyPlans = { defaultPlan: daily, byName: new Map([['default', daily]]) }
      const [today, day] = [1_800_000_000, 86_400]
      const { account } = moveReservation(openAccount('0x1', daily, false, today), 0n, 70n)
      const openedIn = (days: number) => ({ ...account, resetAtSeconds: nextReset('day', today + days * day) })
      expect(accountNow(openedIn(365), dailyPlans, today)).to.deep.equal(account)
      // Another process may have begun the next period some seconds earlier.
      expect(accountNow(openedIn(1), dailyPlans, today)).to.deep.equal(openedIn(1))
      // A model that reads the profile is not asked for each call.
      const asking = { ...daily, isByProfile: true, open: () => expect.fail('asked') } as Plan
      const askingPlans = { defaultPlan: asking, byName: new Map([['default', asking]]) }
      expect(accountNow(openedIn(365), askingPlans, today)).to.deep.equal(openedIn(365))
    })
  })
})

const opening: OpenedAccount = { allowance: 5n, resetAtSeconds: null }

describe('openings', () => {
  it('hand on at once what a model says at once', () => {
    expect(createOpenings('model')('0x1', () => opening)).to.equal(opening)
  })

  it('ask an asynchronous model once for a profile, and have the work begin again', async () => {
    const opened = createOpenings('model')
    const { promise, resolve } = Promise.withResolvers<OpenedAccount>()
    let asked = 0
    let begun = 0
    const open = () => {
      asked++
      return promise
    }
    const work = () => {
      begun++
      return opened('0x1', open)
    }
    const both = Promise.all([whenOpened(work), whenOpened(work)])
    expect({ asked, begun }).to.deep.equal({ asked: 1, begun: 2 })
    resolve(opening)
    expect(await both).to.deep.equal([opening, opening])
    expect({ asked, begun }).to.deep.equal({ asked: 1, begun: 4 })
    expect(() => opened('0x2', open)).to.throw(OpeningUnderWay)
  })

  it('refuse with 503 when the model fails, and ask it anew for the next call', async () => {
    const opened = createOpenings('model')
    const fail = () => whenOpened(() => opened('0x1', () => Promise.reject(new Error('no such token'))))
    const error = await fail().catch((thrown: unknown) => thrown)
    expect(error)
      .to.be.instanceOf(ServiceError)
      .and.include({ code: 'UPSTREAM_UNAVAILABLE', broadcast: false, retryAfterSeconds: 2 })
    expect(String(error)).to.include("the quota model 'model' does not answer")
    expect(await whenOpened(() => opened('0x1', () => Promise.resolve(opening)))).to.equal(opening)
  })

  it('refuse with 503 when the model takes too long', async () => {
    const error = await inTime('model', new Promise(() => {}), 1).catch((thrown: unknown) => thrown)
    expect(error).to.have.property('code', 'UPSTREAM_UNAVAILABLE')
  })

  it('let the work throw what it throws', async () => {
    const error = await whenOpened(() => Promise.reject(new TypeError('mine'))).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(TypeError)
  })
})
