import { expect } from 'chai'
import { assert, nat, property } from 'fast-check'
import type { CheckContext } from '../../lib/clause.ts'
import { breakages, broken, expectProperty, plainSpelling, spell } from '../../lib/fuzz.ts'
import { parseLossless } from '../../lib/lossless-json.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'

/** A context that counts the exchanges that are kept. */
function contextWith(seed: number) {
  const seen = { observations: [] as string[], kept: 0 }
  const t = {
    fuzz: { cases: 100, seed },
    observe: (text: string) => void seen.observations.push(text),
    async aside(work: (t: CheckContext) => Promise<void>) {
      const keep = (): void => void seen.kept++
      return work(t as unknown as CheckContext).then(
        () => ({ keep }),
        (error: unknown) => ({ error, keep }),
      )
    },
  }
  return { t: t as unknown as CheckContext, seen }
}

const thrownBy = (work: Promise<void>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('a property', () => {
  it('fails with the smallest counterexample and the seed, and keeps its exchanges alone', async () => {
    const { t, seen } = contextWith(7)
    const fault = await thrownBy(
      expectProperty(t, 100, nat(100_000), async (_t, value) => {
        if (value >= 37) throw new Fault('too large', { expected: 'below 37' })
      }),
    )
    expect(fault).to.be.instanceOf(Fault)
    expect(fault).to.include({ message: 'too large', expected: 'below 37', actual: 'smallest case: 37 (--seed 7)' })
    expect(seen.kept).to.equal(1)
  })

  it('tries the same cases with the same seed, and others with another', async () => {
    const casesOf = async (seed: number): Promise<number[]> => {
      const cases: number[] = []
      await expectProperty(contextWith(seed).t, 20, nat(), async (_t, value) => void cases.push(value))
      return cases
    }
    expect(await casesOf(1)).to.deep.equal(await casesOf(1))
    expect(await casesOf(1)).to.not.deep.equal(await casesOf(2))
  })

  it('says how far it came when it cannot go on, and is untestable when it never could', async () => {
    const { t, seen } = contextWith(1)
    let count = 0
    await expectProperty(t, 20, nat(), async () => {
      if (++count > 5) throw new Untestable('the budget is used up')
    })
    expect(seen.observations).to.deep.equal(['the check stopped after 5 of 20 cases: the budget is used up'])
    const never = expectProperty(t, 20, nat(), () => Promise.reject(new Untestable('no fixture')))
    expect(await thrownBy(never)).to.be.instanceOf(Untestable)
  })

  it('never blames the target for a fault of ours', async () => {
    const ours = expectProperty(contextWith(1).t, 20, nat(), () => Promise.reject(new TypeError('our bug')))
    expect(await thrownBy(ours))
      .to.be.instanceOf(Error)
      .and.not.be.instanceOf(Fault)
  })
})

const value = { id: 1, params: ['0x12', 'latest'] }

describe('a broken value', () => {
  it('loses, gains or changes what stands at a place', () => {
    expect(broken(value, [{ at: [0], kind: 'drop', value: null }])).to.deep.equal({ params: ['0x12', 'latest'] })
    expect(broken(value, [{ at: [1, 0], kind: 'replace', value: 5 }])).to.deep.equal({ id: 1, params: [5, 'latest'] })
    expect(broken(value, [{ at: [1, 1], kind: 'drop', value: null }])).to.deep.equal({ id: 1, params: ['0x12'] })
    expect(broken(value, [{ at: [1], kind: 'add', value: 7 }])).to.deep.equal({ ...value, x1: 7 })
    expect(broken(value, [])).to.deep.equal(value)
  })

  it('leaves the whole as it is, and can always be written', async () => {
    const whole = structuredClone(value)
    assert(property(await breakages(), (changes) => void JSON.stringify(broken(value, changes))))
    expect(value).to.deep.equal(whole)
  })
})

const body = { a: 1n << 200n, b: ['x', { c: null, d: 'é"\\💥' }], e: true, f: undefined }
const read = { a: 1n << 200n, b: ['x', { c: null, d: 'é"\\💥' }], e: true }

describe('a spelling', () => {
  it('means the same, in any order, with any white space and any escapes', () => {
    const texts = new Set<string>()
    for (let order = 0; order < 6; order++) {
      for (const space of ['', ' ', '\r\n  ']) {
        for (const escape of [0, 1, 2]) {
          const text = spell(body, { order, space, escape })
          expect(parseLossless(text), text).to.deep.equal(read)
          texts.add(text)
        }
      }
    }
    expect(texts.size).to.equal(6 * 3 * 3)
  })

  it('is plain where nothing is asked for', () => {
    expect(spell({ a: 1, b: ['x'] }, plainSpelling)).to.equal('{"a":1,"b":["x"]}')
  })
})
