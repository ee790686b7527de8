import { expect } from 'chai'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { seedsFrom, simulate, type Found } from '../../simulation/simulate.ts'

/** Seeds of each day. They take about as many tenths of a second of CPU. */
const SEEDS_OF_A_DAY = 60
/** What failed once, and why it did. Their plans change with `plan.ts`; that they are good does not. */
const ONCE_BROKEN: readonly (readonly [seed: number, mended: string])[] = [
  [4000118, 'a deep reorganisation takes back what had the nonce of calls that were given up, and they are mined'],
  [2002943, 'two processes follow an account: one gives a call up that the other one has given another nonce'],
  [356, 'two processes follow an account: one signs a call again whose nonce the other one uses up'],
  [612, 'what uses up a missing nonce offers too little when the base fee rises, and is never replaced'],
  [410, 'using up the nonce of an expired call may cost more than the call had reserved'],
  [1010989, 'a deep reorganisation comes when nothing is open any more, and nobody reads the head'],
  [1030580, 'a process without the key of an account gives up a call that another one would sign again'],
  [1030940, 'a process without the key of an account takes all looks at it, and nobody raises the fees'],
  [2020114, 'a process remembers a former key manager, and tells a profile without quota that its signature is wrong'],
  [2050432, 'a caller repeats a call while the database is away, and is told that its nonce is used'],
  [2050451, 'a caller repeats a call whose profile another process has suspended, and is told that'],
  [2050611, 'a caller repeats a call at a process that remembers another key manager, and is told that it expires'],
  [2070898, 'the database goes away while a call is stored, and the caller is told that nothing was stored'],
  [2080, 'two processes take a call at once, and the second one has the next call of the channel with it'],
]

/** In one process, because starting one takes as long as ten seeds. */
async function resultsOf(seeds: Iterable<number>): Promise<Found[]> {
  const results: Found[] = []
  await simulate({ seeds, workers: 1, isShrunk: true, onFound: (found) => void results.push(found) })
  return results
}

describe('the simulation', () => {
  it('keeps every promise, with seeds that are others each day', async () => {
    const first = Math.floor(Date.now() / 86_400_000) * 1_000
    const results = await resultsOf(seedsFrom(first, SEEDS_OF_A_DAY))
    const stories = results.flatMap(({ story = [] }) => story)
    expect(stories.join('\n'), `seeds from ${first}`).to.equal('')
    expect(results.length).to.equal(SEEDS_OF_A_DAY)
    expect(results.reduce((sum, { accepted }) => sum + accepted, 0)).to.be.greaterThan(SEEDS_OF_A_DAY)
    expect(results.reduce((sum, { bundles }) => sum + bundles, 0)).to.be.greaterThan(SEEDS_OF_A_DAY / 10)
    expect(results.reduce((sum, { copies }) => sum + copies, 0)).to.be.greaterThan(0)
  })

  it('does the same for a seed byte for byte, whatever ran before it', async () => {
    const [alone] = await resultsOf([17])
    const after = (await resultsOf(seedsFrom(12, 6))).find(({ seed }) => seed === 17)
    expect(after?.digest).to.be.a('string').that.equals(alone?.digest)
  })

  it('ends quietly in a process whose orders come from one that was killed', async () => {
    const file = fileURLToPath(new URL('../../simulation/worker.ts', import.meta.url))
    const worker = fork(file, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    const said = text(worker.stderr ?? Readable.from([]))
    await once(worker, 'message')
    worker.send({ seed: 17, isTraced: false, isShrunk: false })
    worker.disconnect()
    expect(await once(worker, 'exit')).to.deep.equal([0, null])
    expect(await said).to.equal('')
  })

  describe('of a seed that was broken once', () => {
    let results: Found[]
    before(async () => {
      results = await resultsOf(ONCE_BROKEN.map(([seed]) => seed))
    })
    for (const [seed, mended] of ONCE_BROKEN) {
      it(`${seed} keeps every promise: ${mended}`, () => {
        expect(results.find((found) => found.seed === seed)?.faults).to.deep.equal([])
      })
    }
  })
})
