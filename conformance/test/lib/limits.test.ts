import { expect } from 'chai'
import type { Answer } from '../../lib/answer.ts'
import { createPatience, createSpending, rateLimitOf, retryAfterMs } from '../../lib/limits.ts'
import { Untestable } from '../../lib/outcome.ts'
import { answered } from '../support/answered.ts'

const LIMIT_ERROR = '{"error":{"code":-32005,"message":"limit exceeded"}}'
const SOON = { 'retry-after': '3' }
const PAGE = '<!doctype html><title>Attention Required!</title>'

describe('a rate limit', () => {
  const kindOf = (given: Answer) => {
    const limit = rateLimitOf(given, 0)
    if (!limit) return 'none'
    return (['isCertain', 'isGuess', 'isPage'] as const).filter((kind) => limit[kind]).join() || 'possible'
  }

  for (const [kind, what, given] of [
    ['isCertain', '429', answered(429)],
    ['isCertain', '503 with Retry-After', answered(503, '', SOON)],
    ['isCertain', 'an error of a limit with Retry-After', answered(200, LIMIT_ERROR, SOON)],
    ['isCertain', 'such an error in a batch', answered(200, `[{"result":"0x1"},${LIMIT_ERROR}]`, SOON)],
    ['isGuess', '503 without Retry-After', answered(503)],
    ['isPage', 'the page of a firewall', answered(403, PAGE, { 'content-type': 'text/html' })],
    ['isPage', 'such a page without a type', answered(403, PAGE)],
    ['possible', "an error with HTTP's code", answered(200, '{"error":{"code":429}}')],
    ['possible', 'an error with a code of its own', answered(200, '{"error":{"code":-32000,"message":"throttled"}}')],
    ['possible', 'an error of a limit without Retry-After', answered(200, LIMIT_ERROR)],
    ['possible', 'the status of the node behind', answered(200, '{"error":{"code":-32000,"message":"HTTP 429"}}')],
    ['possible', 'an error with Retry-After', answered(200, '{"error":{"code":-32000}}', SOON)],
    ['none', 'an error without Retry-After', answered(200, '{"error":{"code":-32000}}')],
    ['none', 'an error of the request with Retry-After', answered(200, '{"error":{"code":-32602}}', SOON)],
    ['none', 'an error without a code, with Retry-After', answered(200, '{"error":{}}', SOON)],
    ['possible', '503 with such an error', answered(503, LIMIT_ERROR)],
    ['possible', 'an error in words', answered(200, '{"error":"rate limit exceeded"}')],
    ['possible', 'any refusal with Retry-After', answered(400, '', SOON)],
    ['possible', 'a refusal in the words of a limit', answered(403, 'too many requests')],
    ['none', 'an answer with Retry-After', answered(200, '{"result":"0x1"}', SOON)],
    ['none', 'a result in the words of a limit', answered(200, '{"result":"too many requests"}')],
    ['none', 'a refusal without a word', answered(400)],
    ['none', 'a refusal with another error', answered(500, '{"error":{"code":-32000,"message":"reverted"}}')],
    ['none', 'an error without a word', answered(200, '{"error":null}')],
    ['none', 'another page of a firewall', answered(403, '<html>no</html>')],
    ['none', 'such a page with another status', answered(404, PAGE, { 'content-type': 'text/html' })],
    [
      'none',
      'a refusal in the words of a firewall',
      answered(403, 'you are blocked', { 'content-type': 'text/plain' }),
    ],
    ['none', 'a page that explains limits', answered(404, `rate limit ${'x'.repeat(1000)}`)],
    ['none', 'the question for a credential', answered(401, '', SOON)],
    ['none', 'the question of a proxy for one', answered(407, 'too many requests', SOON)],
    ['none', 'no answer', answered(undefined)],
  ] as const) {
    it(`${kind === 'none' ? 'is not told' : `is told (${kind})`} by ${what}`, () => {
      expect(kindOf(given)).to.equal(kind)
    })
  }

  it('asks for the time that it names, and for twice as long each time where it names none', () => {
    expect(rateLimitOf(answered(429, '', SOON), 5)?.waitMs).to.equal(3000)
    expect(rateLimitOf(answered(429, '', { 'retry-after': '0' }), 5)?.waitMs).to.equal(200)
    expect([0, 1, 2].map((attempt) => rateLimitOf(answered(429), attempt)?.waitMs)).to.deep.equal([1000, 2000, 4000])
  })

  it("names seconds, or a date by the target's clock", () => {
    const date = (seconds: number) => new Date(seconds * 1000).toUTCString()
    expect(retryAfterMs(answered(429, '', { 'retry-after': '1.5' }))).to.equal(1500)
    expect(retryAfterMs(answered(429, '', { 'retry-after': date(70), date: date(60) }))).to.equal(10_000)
    expect(retryAfterMs(answered(429, '', { 'retry-after': date(0) }))).to.be.below(-1e12)
    for (const unread of ['', ' ', 'soon'])
      expect(retryAfterMs(answered(429, '', { 'retry-after': unread }))).to.equal(undefined)
    expect(retryAfterMs(answered(429))).to.equal(undefined)
  })
})

describe('the patience of a run', () => {
  it('is one for all rate limits, and two minutes for one of them', () => {
    const patience = createPatience({ receiptMs: 1, restartMs: 1, rateLimitMs: 200_000 })
    expect(patience.mayWait(120_001)).to.equal(false)
    expect(patience.mayWait(120_000)).to.equal(true)
    expect(patience.mayWait(80_001)).to.equal(false)
    expect(patience.mayWait(80_000)).to.equal(true)
    expect(patience.mayWait(1)).to.equal(false)
  })

  it('for hashes is short after one that the chain did not come to know', () => {
    for (const [given, then] of [
      [60_000, 5000],
      [300, 300],
    ] as const) {
      const patience = createPatience({ receiptMs: given, restartMs: 1, rateLimitMs: 1 })
      expect(patience.receiptMs()).to.equal(given)
      patience.disappointed()
      expect(patience.receiptMs()).to.equal(then)
    }
    expect(createPatience({ receiptMs: 1, restartMs: 1, rateLimitMs: 1 }).lingerMs).to.equal(0)
  })
})

describe('what a run may spend', () => {
  const open = (maxTransactions: number, readOnly = false) => createSpending({ readOnly, maxTransactions })

  it('is counted once for each hash, and for each request without an answer', () => {
    const account = open(3)
    const [first, second] = [account.of('first'), account.of('second')]
    first.caused('0x1')
    second.caused('0x1')
    second.caused('0x2')
    expect(account.transactions).to.deep.equal([
      { hash: '0x1', clause: 'first' },
      { hash: '0x2', clause: 'second' },
    ])
    first.ask()
    second.unknown()
    expect(() => first.ask()).to.throw(Untestable, 'the budget of 3 transactions is used up')
  })

  it('is nothing where the run only reads', () => {
    expect(() => open(3, true).of('first').ask()).to.throw(Untestable, 'read-only')
  })
})
