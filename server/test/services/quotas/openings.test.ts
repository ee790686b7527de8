import { expect } from 'chai'
import { ServiceError } from '../../../core/errors.ts'
import type { OpenedAccount } from '../../../core/define.ts'
import { createOpenings, inTime, OpeningUnderWay, whenOpened } from '../../../services/quotas/plans.ts'

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
