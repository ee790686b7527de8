import { expect } from 'chai'
import { createRecorder, createReplay, packRecording, unpackRecording } from '../../lib/recording.ts'
import { delay, inScope, inWorld, ourTimeMs, outside, randomBytes, signatureOf } from '../../lib/world.ts'

/** Answers that somebody gives from outside, when the test says so. */
function answers() {
  const open = new Map<string, (answer: string) => void>()
  return {
    ask: (question: string) => outside(question, () => new Promise<string>((resolve) => open.set(question, resolve))),
    give: (question: string) => open.get(question)?.(`${question}!`),
  }
}

const never = (): never => {
  throw new Error('a record is judged without the world')
}

/** What a piece of work took from outside of itself. */
async function work(): Promise<unknown[]> {
  await delay(1)
  const took = await outside('a question', () => Promise.resolve({ an: 'answer' }))
  return [took, ourTimeMs(), ourTimeMs(), randomBytes(8), signatureOf('0xA', '0xd', () => '0xsigned')]
}

describe('the record of a run', () => {
  it('gives the answers, the time, the random bytes and the signatures again', async () => {
    const { world, run } = createRecorder('run')
    const before = await inWorld(world, () => inScope('a check', work))
    const packed = packRecording({ ...run, options: {} })
    const replay = createReplay(unpackRecording(packed), 'run')
    const after = await inWorld(replay.world, () =>
      inScope('a check', async () => {
        await delay(1)
        const took = await outside('a question', never)
        return [took, ourTimeMs(), ourTimeMs(), randomBytes(8), signatureOf('0xa', '0xD', undefined)]
      }),
    )
    expect(after).to.deep.equal(before)
    expect(replay.unasked()).to.deep.equal([])
    expect([...replay.missed]).to.deep.equal([])
  })

  it('gives what was asked at once in the order in which the answers came', async () => {
    const { ask, give } = answers()
    const { world, run } = createRecorder('run')
    const both = inWorld(world, () => Promise.all([ask('first'), ask('second')]))
    give('second')
    await new Promise((resolve) => setImmediate(resolve))
    give('first')
    await both
    const came: string[] = []
    await inWorld(createReplay(run, 'run').world, () =>
      Promise.all(['first', 'second'].map(async (asked) => came.push(await outside(asked, never)))),
    )
    expect(came).to.deep.equal(['second!', 'first!'])
  })

  it('says what it does not hold: another question, one without an answer, one that was asked once', async () => {
    const { world, run } = createRecorder('run')
    await inWorld(world, async () => {
      await outside('once', () => Promise.resolve(1))
      void outside('unanswered', () => new Promise(() => {}))
    })
    for (const asked of ['another', 'unanswered', 'once']) {
      const { world: again, missed, unasked } = createReplay(run, 'run')
      const failure = await inWorld(again, async () => {
        if (asked === 'once') expect(await outside('once', never)).to.equal(1)
        return outside(asked, never).then(String, (error: Error) => error.message)
      })
      expect(failure).to.equal(`the record does not answer ${asked}`)
      expect([...missed]).to.deep.equal([['run', asked]])
      if (asked === 'another') expect(unasked()).to.deep.equal(['run: once', 'run: unanswered'])
    }
  })

  it('is refused when it is damaged', () => {
    for (const packed of ['', 'AAAA', packRecording({ startMs: 1 } as never)]) {
      expect(() => unpackRecording(packed)).to.throw(/^the record of the run is damaged/)
    }
  })
})
