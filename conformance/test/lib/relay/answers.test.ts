import { expect } from 'chai'
import type { Answer } from '../../../lib/answer.ts'
import { createPatience } from '../../../lib/limits.ts'
import {
  asksForCredential,
  demandsCredential,
  excuseMs,
  faultsOf,
  hashIn,
  isAccepted,
  isMore,
  isUnauthorised,
  noReason,
  normalHash,
  readTold,
  refusesNowAndThen,
  saysUnregistered,
  tellsAmount,
  tellsHash,
  tellsQuota,
  untoldWaitMs,
  wrongHash,
  wrongSeconds,
  wrongValue,
} from '../../../lib/relay/answers.ts'
import { answered } from '../../support/answered.ts'

const HASH = `0x${'aB'.repeat(32)}`
/** Headers that name a scheme of authentication. */
const SCHEME = { 'www-authenticate': 'Basic' }

describe('the hash in an answer', () => {
  it('is a value of any type, with any status, and none where a language writes nothing', () => {
    for (const transactionHash of [HASH, 'x', 1, true, ['0x1'], {}]) {
      expect(hashIn(answered(400, { transactionHash }))).to.deep.equal(transactionHash)
    }
    for (const transactionHash of [null, false, '', '0', '0x', `0x${'0'.repeat(64)}`]) {
      expect(hashIn(answered(200, { transactionHash })), String(transactionHash)).to.equal(undefined)
    }
    for (const body of [{}, [], null, 'no JSON', HASH]) expect(hashIn(answered(200, body))).to.equal(undefined)
  })

  it('means that the call was accepted where it is a string of 32 bytes and the status one of success', () => {
    const isIt = (status: number | undefined, transactionHash: unknown) =>
      isAccepted(answered(status, { transactionHash }))
    for (const status of [200, 201, 299]) expect(isIt(status, HASH), String(status)).to.equal(true)
    expect(isIt(200, HASH.slice(2))).to.equal(true)
    for (const status of [undefined, 199, 300, 400, 503]) expect(isIt(status, HASH), String(status)).to.equal(false)
    for (const hash of [`${HASH}0`, HASH.slice(0, -1), `x${HASH}`, [HASH], null])
      expect(isIt(200, hash)).to.equal(false)
  })

  it('is told in any type and spelling, with success', () => {
    for (const told of [HASH, `${HASH}00`, [HASH], { hash: HASH }]) {
      expect(tellsHash(answered(200, { transactionHash: told }))).to.equal(true)
      expect(tellsHash(answered(400, { transactionHash: told }))).to.equal(false)
    }
    for (const told of ['0xab', null, 1]) expect(tellsHash(answered(200, { transactionHash: told }))).to.equal(false)
    expect(tellsHash(answered(200, {}))).to.equal(false)
  })

  it('is compared as nodes write it', () => {
    for (const hash of [HASH, HASH.toUpperCase(), HASH.slice(2)]) expect(normalHash(hash)).to.equal(HASH.toLowerCase())
  })
})

describe('a refusal for want of a credential', () => {
  it('has a status for it, or names a scheme', () => {
    for (const status of [401, 403, 407]) expect(isUnauthorised(answered(status, ''))).to.equal(true)
    for (const status of [400, 402, 404, 500, undefined]) expect(isUnauthorised(answered(status, ''))).to.equal(false)
    expect(isUnauthorised(answered(400, '', SCHEME))).to.equal(true)
    expect([401, 403, 407].map((status) => asksForCredential(answered(status, '')))).to.deep.equal([false, false, true])
  })

  it('demands one when it names a scheme, or says the same to an empty request', async () => {
    const to = (refused: Answer, empty: Answer) => demandsCredential(refused, () => Promise.resolve(empty))
    const never = () => Promise.reject(new Error('an empty request was sent'))
    expect(await demandsCredential(answered(400, 'no key'), never)).to.equal(false)
    expect(await demandsCredential(answered(401, 'no key', SCHEME), never)).to.equal(true)
    expect(await to(answered(401, 'no key'), answered(401, 'no key'))).to.equal(true)
    expect(await to(answered(401, 'no key'), answered(401, 'no address'))).to.equal(false)
    expect(await to(answered(401, 'no key'), answered(400, 'no key'))).to.equal(false)
  })
})

describe('a refusal of a profile that is not registered', () => {
  const is = (text: string, headers = {}) => saysUnregistered(answered(403, text, headers))

  it('says so in some words', () => {
    for (const words of [
      'PROFILE_NOT_REGISTERED',
      'Profile not registered',
      'this Universal Profile is unregistered',
      'please register first',
      'unknown profile',
      'profile unknown',
      'The profile is not known to us',
      'Profile not found',
      'key manager not registered',
    ]) {
      expect(is(words), words).to.equal(true)
      expect(is(JSON.stringify({ error: { message: words } })), words).to.equal(true)
    }
  })

  it('is none where the words are about something else, or about whoever calls', () => {
    for (const words of ['', 'Forbidden', 'invalid signature', 'transaction not found', 'a profile with no quota']) {
      expect(is(words), words).to.equal(false)
    }
    for (const caller of ['API key', 'token', 'client', 'credentials']) {
      expect(is(`${caller} not registered`), caller).to.equal(false)
    }
  })

  it('is no answer that asks for a credential, no long page, and no lost connection', () => {
    const words = 'profile not registered'
    expect(is(words, SCHEME)).to.equal(false)
    expect(is(words.padEnd(1000))).to.equal(true)
    expect(is(words.padEnd(1001))).to.equal(false)
    const failure = { kind: 'closed', message: words } as const
    expect(saysUnregistered({ ...answered(403, words), failure })).to.equal(false)
  })
})

describe('a quota that an answer tells', () => {
  const unit = 'gas'
  const faults = (body: object) => faultsOf(answered(200, body)).map(({ of }) => of)

  it('is there with success and a value, an amount with a digit above zero', () => {
    for (const quota of [0, '0', 5, 'x', {}])
      expect(tellsQuota(answered(200, { quota })), JSON.stringify(quota)).to.equal(true)
    for (const body of [{ quota: null }, {}, [], 'x']) expect(tellsQuota(answered(200, body))).to.equal(false)
    for (const quota of [5, '5', 0.01, { left: 1 }]) expect(tellsAmount(answered(200, { quota }))).to.equal(true)
    for (const quota of [0, '0', 'none', null]) expect(tellsAmount(answered(200, { quota }))).to.equal(false)
    for (const tells of [tellsQuota, tellsAmount]) expect(tells(answered(402, { quota: 5 }))).to.equal(false)
  })

  it('keeps all of its digits', () => {
    const told = readTold(answered(200, '{"quota":12345678901234567890,"totalQuota":"1","unit":"gas","resetDate":7}'))
    expect(told.quota).to.include({ units: 12_345_678_901_234_567_890n })
    expect(told).to.include({ totalQuota: undefined, unit: 'gas', resetDate: 7 })
    expect(readTold(answered(200, 'none'))).to.include({ quota: undefined, unit: undefined })
  })

  it('is more than another by its digits; a fraction, by more than the error of a double', () => {
    const amount = (quota: string) => readTold(answered(200, `{"quota":${quota}}`)).quota
    for (const [a, b, is] of [
      ['2', '1', true],
      ['1', '1', false],
      ['1', '2', false],
      ['10000000000000000001', '10000000000000000000', true],
      ['0.30000000000000004', '0.3', false],
      ['1', '0.99999999999999999', false],
      ['0.99999999999999999', '1', false],
      ['0.31', '0.3', true],
      ['1.5', '1', true],
    ] as const) {
      const [first, second] = [amount(a), amount(b)]
      if (!first || !second) throw new Error('no amount')
      expect(isMore(first, second), `${a} > ${b}`).to.equal(is)
    }
  })

  it('has no fault where each member is as documented', () => {
    for (const body of [
      { quota: 1, unit },
      { quota: 0, unit: 'lyx', totalQuota: 0 },
      { quota: 1.5, unit: 'transactionCount', totalQuota: 1.5, resetDate: 0 },
    ]) {
      expect(faults(body), JSON.stringify(body)).to.deep.equal([])
    }
  })

  it('has a fault of its own clause for each member that is not', () => {
    for (const [body, ...of] of [
      [{ quota: '1', unit }, 'relay.quota.quota-number'],
      [{ unit }, 'relay.quota.quota-number'],
      [{ quota: 1, unit: 'wei' }, 'relay.quota.unit'],
      [{ quota: 1, unit: ['gas'] }, 'relay.quota.unit'],
      [{ quota: 1 }, 'relay.quota.unit'],
      [{ quota: 1, unit, totalQuota: '2' }, 'relay.quota.total-quota'],
      [{ quota: 1, unit, totalQuota: null }, 'relay.quota.total-quota'],
      [{ quota: 1, unit, resetDate: 1.5 }, 'relay.quota.reset-date'],
      [{ quota: 1, unit, resetDate: '7' }, 'relay.quota.reset-date'],
      [{ quota: 2, unit, totalQuota: 1 }, 'relay.quota.total-is-available-plus-used'],
      [{}, 'relay.quota.quota-number', 'relay.quota.unit'],
    ] as const) {
      expect(faults(body), JSON.stringify(body)).to.deep.equal(of)
    }
    expect(faultsOf(answered(200, 'none'))).to.have.length(2)
  })
})

describe('a wrong value in a message', () => {
  it('says what it looks like', () => {
    expect(wrongSeconds(1_796_083_200_000)).to.equal('1796083200000 — this looks like milliseconds')
    expect(wrongSeconds('2026-12-01T00:00:00Z')).to.include('a string that holds a date')
    expect(wrongValue('12')).to.equal('"12" — a string that holds a number')
    expect(wrongValue('wei')).to.equal('"wei"')
    expect(wrongValue(' ')).to.equal('" "')
    expect(wrongValue(['2026-12-01'])).to.equal('["2026-12-01"]')
    expect(wrongSeconds(-1_796_083_200_000)).to.include('milliseconds')
    expect(wrongSeconds('1796083200000')).to.include('a string that holds a number')
    expect(wrongSeconds(1.5)).to.equal('1.5')
    expect(wrongValue(undefined)).to.equal('absent')
    expect(wrongHash(`0x${'ab'.repeat(31)}`)).to.include('31 bytes, where a hash has 32')
    expect(wrongHash('9'.repeat(77))).to.include('decimal')
    expect(wrongHash('0xzz')).to.include('no hex digits')
  })
})

describe('the wait after a refusal', () => {
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
    expect(waitsAfter(answered(400, '{"error":"InvalidRelayNonce"}'), 60_000)).to.deep.equal([])
    expect(waitsAfter(answered(401, '{"error":"please try again"}'), 60_000)).to.deep.equal([])
  })

  it('is short where the target says that it is busy', () => {
    for (const status of [409, 423, 425, 429, 503]) {
      expect(waitsAfter(answered(status, '{}'), 60_000), String(status)).to.deep.equal([500, 1000, 2000])
    }
    expect(waitsAfter(answered(400, '{}', { 'retry-after': '1' }), 60_000)).to.deep.equal([1000, 1000, 2000])
    expect(waitsAfter(answered(401, '{}', { 'retry-after': '1' }), 60_000)).to.deep.equal([])
    const failure = { kind: 'timeout', message: 'too many attempts' } as const
    expect(waitsAfter({ ...answered(429, 'too many attempts'), failure }, 60_000)).to.deep.equal([])
    expect(waitsAfter(answered(400, 'the call before is pending'), 60_000)).to.deep.equal([500, 1000, 2000])
  })

  it('is as long as the run has time where the words tell of a limit or of a lock, for valid requests alone', () => {
    for (const [status, text] of [
      [400, 'rate limit exceeded'],
      [403, 'Account temporarily locked'],
      [401, 'Too many failed attempts'],
      [403, '<html><title>Access denied</title></html>'],
    ] as const) {
      expect(waitsAfter(answered(status, text), 59_000), text).to.deep.equal([500, 1000, 2000, 4000, 8000, 16_000])
      expect(waitsAfter(answered(status, text)), text).to.deep.equal([500, 1000, 2000])
    }
  })

  it('is at least what the target asks for', () => {
    expect(waitsAfter(answered(503, '', { 'retry-after': '3' }), 60_000)).to.deep.equal([3000, 3000, 3000])
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
