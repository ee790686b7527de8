import { expect } from 'chai'
import { parseFixture } from '../../lib/fixture.ts'
import { UsageError } from '../../lib/outcome.ts'
import { sampleFixture as fixture } from '../support/samples.ts'

const { address, privateKey } = fixture.controllers.full

describe('a fixture', () => {
  it('needs chain, profile and controllers', () => {
    expect(parseFixture(fixture, 'f')).to.equal(fixture)
    for (const name of Object.keys(fixture)) {
      expect(() => parseFixture({ ...fixture, [name]: undefined }, 'f'), name).to.throw(UsageError, name)
    }
  })

  it('is refused with the name of the wrong field and without the keys in it', () => {
    const wrong = {
      ...fixture,
      controllers: { ...fixture.controllers, full: { address, privateKey: privateKey.slice(0, -1) } },
    }
    const error = (() => {
      try {
        return parseFixture(wrong, 'f')
      } catch (thrown) {
        return thrown as Error
      }
    })()
    expect(error).to.be.instanceOf(UsageError)
    expect((error as Error).message)
      .to.include('/controllers/full/privateKey')
      .and.not.include('2222')
  })
})
