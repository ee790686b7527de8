import { expect } from 'chai'
import type { Answer } from '../../../lib/answer.ts'
import { createPatience } from '../../../lib/limits.ts'
import {
  excuseMs,
  noReason,
  refusesNowAndThen,
  untoldWaitMs,
  wrongHash,
  wrongSeconds,
  wrongValue,
} from '../../../lib/relay/answers.ts'

describe('a wrong value in a message', () => {
  it('says what it looks like', () => {
    expect(wrongSeconds(1_796_083_200_000)).to.equal('1796083200000 — this looks like milliseconds')
    expect(wrongSeconds('2026-12-01T00:00:00Z')).to.include('a string that holds a date')
    expect(wrongValue('12')).to.equal('"12" — a string that holds a number')
    expect(wrongValue('wei')).to.equal('"wei"')
    expect(wrongValue(undefined)).to.equal('absent')
    expect(wrongHash(`0x${'ab'.repeat(31)}`)).to.include('31 bytes, where a hash has 32')
    expect(wrongHash('9'.repeat(77))).to.include('decimal')
    expect(wrongHash('0xzz')).to.include('no hex digits')
  })
})

describe('the wait after a refusal', () => {
  const refusal = (status: number, text: string, headers = {}): Answer =>
    ({ status, text, headers, json: undefined, failure: undefined }) as unknown as Answer
  /** The waits of a request that is refused each time. */
  function waitsAfter(answer: Answer, rateLimitMs?: number): number[] {
    const patience = rateLimitMs === undefined ? undefined : createPatience({ receiptMs: 1, rateLimitMs, restartMs: 1 })
    const waits: number[] = []
    for (let waitMs = excuseMs(answer, 1, patience); waitMs !== undefined && waits.length < 20;) {
      waits.push(waitMs)
      waitMs = excuseMs(answer, waits.length + 1, patience)
    }
    return waits
  }

  it('is none where nothing excuses the refusal', () => {
    expect(waitsAfter(refusal(400, '{"error":"InvalidRelayNonce"}'), 60_000)).to.deep.equal([])
    expect(waitsAfter(refusal(401, '{"error":"please try again"}'), 60_000)).to.deep.equal([])
  })

  it('is short where the target says that it is busy', () => {
    expect(waitsAfter(refusal(409, '{}'), 60_000)).to.deep.equal([500, 1000, 2000])
    expect(waitsAfter(refusal(400, 'the call before is pending'), 60_000)).to.deep.equal([500, 1000, 2000])
  })

  it('is as long as the run has time where the words tell of a limit or of a lock, for valid requests alone', () => {
    for (const [status, text] of [
      [400, 'rate limit exceeded'],
      [403, 'Account temporarily locked'],
      [401, 'Too many failed attempts'],
      [403, '<html><title>Access denied</title></html>'],
    ] as const) {
      expect(waitsAfter(refusal(status, text), 59_000), text).to.deep.equal([500, 1000, 2000, 4000, 8000, 16_000])
      expect(waitsAfter(refusal(status, text)), text).to.deep.equal([500, 1000, 2000])
    }
  })

  it('is at least what the target asks for', () => {
    expect(waitsAfter(refusal(503, '', { 'retry-after': '3' }), 60_000)).to.deep.equal([3000, 3000, 3000])
  })
})

describe('the waits for a reason that the target does not tell', () => {
  it('are fewer after each refusal that stays, and then none', () => {
    const reason = noReason()
    const waitsOf = (): number[] => {
      const waits: number[] = []
      for (let waitMs = untoldWaitMs(reason, 0); waitMs !== undefined; waitMs = untoldWaitMs(reason, waits.length))
        waits.push(waitMs)
      return waits
    }
    expect(waitsOf().reduce((sum, waitMs) => sum + waitMs, 0)).to.be.above(20_000)
    expect(waitsOf()).to.have.length(2)
    expect(waitsOf()).to.deep.equal([])
    expect(reason.inVain).to.equal(2)
  })

  it('are as many as before where one of them helped', () => {
    const reason = noReason()
    for (let call = 0; call < 3; call++) expect(untoldWaitMs(reason, 0)).to.equal(1000)
  })
})

describe('a request that is taken at once when it comes again', () => {
  it('says the second time that valid ones are refused now and then', () => {
    const reason = noReason()
    expect([5, 500, 5].map((afterMs) => refusesNowAndThen(reason, afterMs))).to.deep.equal([false, false, true])
  })
})
