import { hexlify, toBeHex, ZeroAddress } from 'ethers'
import { type Answer, describeAnswer, summariseAnswer } from '../../lib/answer.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import { NumberLiteral } from '../../lib/lossless-json.ts'
import type { Account } from '../../lib/fixture.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'
import { tellsAmount, tellsQuota } from '../../lib/relay/answers.ts'
import { attemptCall } from '../../lib/relay/attempt.ts'
import { permissions, permissionsKey, readData } from '../../lib/relay/contracts.ts'
import { type QuotaReading, quotaReadings, signQuota, strangerAccount } from '../../lib/relay/message.ts'
import { type QuotaBody, quotaSession, signBody } from '../../lib/relay/quota-session.ts'
import { allowedWidth, isNarrow, type Probe } from '../../lib/relay/quota-window.ts'
import { expectRefused, firstTold, refusalOfVariant, sendForbidden } from '../../lib/relay/quota.ts'
import { editionTerms } from '../../lib/target.ts'
import { delay, ourTimeMs, randomBytes } from '../../lib/world.ts'

const requiredFields = [
  ['relay.quota.requires-address', 'address'],
  ['relay.quota.requires-timestamp', 'timestamp'],
  ['relay.quota.requires-signature', 'signature'],
] as const

/** What a lenient reader may take for the right value. */
const noHexStrings: readonly (readonly [what: string, value: (right: unknown) => unknown])[] = [
  ['null', () => null],
  ['an empty string', () => ''],
  ['an array that holds it', (right) => [right]],
]

/** Sends a valid request with another signature, which the target must refuse. */
function expectSignatureRefused(
  t: CheckContext,
  what: string,
  sign: (body: QuotaBody, reading: QuotaReading) => string,
): Promise<void> {
  return expectRefused(t, what, (body, { reading }) => ({ ...body, signature: sign(body, reading) }))
}

const otherAddresses: readonly (readonly [what: string, address: (t: CheckContext) => string | undefined])[] = [
  ['nobody', () => hexlify(randomBytes(20))],
  ['the controller itself', ({ fixture }) => fixture.controllers.full.address],
  ['another controller', ({ fixture }) => fixture.controllers.noRelay.address],
  ['another contract', ({ fixture }) => fixture.logs?.emitter],
  ['the key manager', ({ fixture }) => fixture.profile.keyManager],
  ['zero', () => ZeroAddress],
]

function tenths(seconds: number): string {
  return String(Math.round(seconds * 10) / 10)
}

/** @throws Fault when the window is wider or narrower than the edition documents */
async function expectDocumentedWidth(t: CheckContext): Promise<void> {
  const { window } = await quotaSession(t)
  const away = ({ timestamp, sentAt }: Probe): number => timestamp - Math.floor(sentAt + t.clock.offsetSeconds)
  const [ago, ahead] = [-away(window.earliest), away(window.latest)]
  t.observe(`clock edges at ${ago} s ago and ${ahead} s ahead`)
  const half = editionTerms[t.edition].halfWindowSeconds
  if (half === null) return
  const { most } = allowedWidth(half)
  const expected = `${2 * half} s from the earliest to the latest timestamp, give or take the rounding`
  if (window.leastWidth > most) {
    const { answer } = ago > ahead ? window.earliest : window.latest
    const actual = `at least ${tenths(window.leastWidth)} s: from ${ago} s ago to ${ahead} s ahead`
    throw new Fault('the window is too wide', { expected, actual, answer })
  }
  const { tooEarly, tooLate, mostWidth } = window
  if (isNarrow(window, half) && tooEarly && tooLate) {
    const { answer } = -away(tooEarly) < away(tooLate) ? tooEarly : tooLate
    const actual = `less than ${tenths(mostWidth)} s: ${-away(tooEarly)} s ago and ${away(tooLate)} s ahead are refused`
    throw new Fault('the window is too narrow', { expected, actual, answer })
  }
}

/** A controller that was added to the profile may become known to the target this late. */
const addedMs = 10_000
/** The target may keep the permissions that it has read for so long. */
const keptMs = 60_000
const lookPauseMs = 1000

/** Gives a controller permissions on the profile by a relay call. @returns why that was not done; undefined: it was */
async function setPermissions(t: CheckContext, controller: Account, bits: bigint): Promise<string | undefined> {
  try {
    const call = { key: permissionsKey(controller.address), value: toBeHex(bits, 32) }
    const { isExecuted, faults } = await attemptCall(t, call)
    return isExecuted ? undefined : (faults[0]?.message ?? 'the call was not executed')
  } catch (error) {
    if (error instanceof Untestable || error instanceof Fault) return error.message
    throw error
  }
}

/**
 * Adds a controller with SIGN, takes SIGN away again, and waits until the target refuses it. A target need not know of a
 * controller that was added, and may know for a while what it has read before.
 *
 * @throws Fault when the target goes on to serve the controller
 */
async function expectLossNoticed(t: CheckContext): Promise<void> {
  if (!t.hasChain) return
  const added = strangerAccount()
  const ask = (): Promise<Answer> =>
    sendForbidden(t, (body, { reading }) => ({ ...body, signature: signQuota(body, added, reading) }))
  const askUntil = async (told: boolean, waitMs: number): Promise<Answer> => {
    const start = ourTimeMs()
    for (;;) {
      const answer = await ask()
      if (tellsAmount(answer) === told || ourTimeMs() - start >= waitMs) return answer
      await delay(lookPauseMs)
    }
  }
  const given = await setPermissions(t, added, permissions.SIGN)
  if (given !== undefined) return t.observe(`not seen: the relay did not add a controller: ${given}`)
  let isServed = false
  try {
    isServed = tellsAmount(await askUntil(true, addedMs))
  } finally {
    await setPermissions(t, added, 0n)
  }
  if (!isServed) return t.observe('not seen: a controller that is added with SIGN is not served')
  const key = permissionsKey(added.address)
  if (BigInt(await readData(t.chain, t.fixture.profile.address, key)) !== 0n)
    return t.observe('not seen: the relay did not take SIGN away')
  const after = await askUntil(false, keptMs)
  if (!tellsAmount(after)) return
  throw new Fault(`the target told a quota for a controller that lost SIGN ${keptMs / 1000} s before`, {
    expected: 'an answer without quota',
    actual: describeAnswer(after),
    answer: after,
  })
}

export default [
  ...requiredFields.map(([id, field]) =>
    clause(id, (check) => {
      check(`without ${field} there is no quota`, (t) =>
        expectRefused(t, `a body without ${field}`, (valid) => ({ ...valid, [field]: undefined })),
      )
      // A clause of its own judges the forms of the timestamp.
      for (const [what, value] of field === 'timestamp' ? [] : noHexStrings) {
        check(`with ${what} as ${field} there is no quota`, (t) =>
          expectRefused(t, `${what} as ${field}`, (valid) => ({ ...valid, [field]: value(valid[field]) })),
        )
      }
    }),
  ),

  clause('relay.quota.sign-permission', (check) => {
    check('a controller with SIGN is served', async (t) => {
      await firstTold(t)
    })

    check('a controller with SIGN and without EXECUTE_RELAY_CALL is served', async (t) => {
      const { noRelay } = t.fixture.controllers
      const answer = await refusalOfVariant(t, ({ timestamp }, session) =>
        signBody(t, session, timestamp / session.perSecond, noRelay),
      )
      if (!answer) return
      throw new Fault('a controller that holds SIGN was refused', {
        expected: 'an answer with quota, as for the controller with every permission',
        actual: describeAnswer(answer),
        answer,
      })
    })

    check('a controller without SIGN is refused', async (t) => {
      const { noSign } = t.fixture.controllers
      await expectSignatureRefused(t, 'a controller without SIGN', (body, reading) => signQuota(body, noSign, reading))
    })

    // After the calls of the run, which show how the target takes them.
    check('a controller that has lost SIGN is refused', { isLast: true, maySpend: true }, expectLossNoticed)

    // A target may remember what it has seen, in place of what it has found to be valid.
    check('a stranger is refused when the request is sent again', async (t) => {
      const stranger = strangerAccount()
      let first: QuotaBody | undefined
      for (const what of ['a stranger’s signature', 'a stranger’s signature, sent again']) {
        await expectRefused(t, what, (body, { reading }) => {
          return (first ??= { ...body, signature: signQuota(body, stranger, reading) })
        })
      }
    })

    check('a stranger is refused', async (t) => {
      const stranger = strangerAccount()
      await expectSignatureRefused(t, 'a stranger’s signature', (body, reading) => signQuota(body, stranger, reading))
    })

    for (const [what, addressOf] of otherAddresses) {
      check(`a controller is refused at the address of ${what}`, async (t) => {
        const address = addressOf(t)
        const { reading } = await quotaSession(t)
        // A target that reads the controller's address as the profile's breaks another clause.
        if (address === undefined || reading === 'controller address') return
        await expectRefused(t, `the address of ${what}, where the signer holds no permission`, ({ timestamp }) => {
          const message = { address, timestamp }
          return { ...message, signature: signQuota(message, t.fixture.controllers.full, reading) }
        })
      })
    }
  }),

  clause('relay.quota.bound-to-message', (check) => {
    check('a signature over another address is refused', async (t) => {
      const { full } = t.fixture.controllers
      const address = hexlify(randomBytes(20))
      await expectSignatureRefused(t, 'a signature over another address', (body, reading) =>
        // The reading over the controller's address has no second profile, so a second key stands for it.
        reading === 'controller address'
          ? signQuota(body, { ...full, address }, reading)
          : signQuota({ ...body, address }, full, reading),
      )
    })

    check('a signature over another timestamp is refused', async (t) => {
      // One of the two differs in the last digit alone.
      for (const away of [-1, 1]) {
        await expectSignatureRefused(t, 'a signature over another timestamp', (body, reading) =>
          signQuota({ ...body, timestamp: body.timestamp + away }, t.fixture.controllers.full, reading),
        )
      }
    })

    // A target may remember signatures that it has verified, and take one for another message.
    check('a signature that was served is refused with another timestamp', async (t) => {
      await expectRefused(t, 'a signature that was served, with another timestamp', (valid, session) => {
        const served = [session.window.latest, session.window.earliest].find(
          ({ timestamp }) => timestamp * session.perSecond !== valid.timestamp,
        )
        const seconds = served?.timestamp ?? valid.timestamp / session.perSecond - 1
        return { ...valid, signature: signBody(t, session, seconds).signature }
      })
    })

    check('a signature that was tampered with is refused', async (t) => {
      await expectSignatureRefused(t, 'a signature that was tampered with', ({ signature }) => {
        const digit = signature.at(40) === '0' ? '1' : '0'
        return `${signature.slice(0, 40)}${digit}${signature.slice(41)}`
      })
    })

    for (const [what, signature] of [
      ['zeros', `0x${'00'.repeat(65)}`],
      ['no bytes', '0x'],
    ] as const) {
      check(`a signature of ${what} is refused`, (t) =>
        expectSignatureRefused(t, `a signature of ${what}`, () => signature),
      )
    }
  }),

  clause('relay.quota.hash', (check) => {
    check('the packed message, hashed again as a personal message, is served', async (t) => {
      const session = await quotaSession(t)
      const { quotaMessage } = editionTerms[t.edition]
      if (session.reading === quotaMessage) return
      const answer = await refusalOfVariant(t, ({ timestamp }, { perSecond }) =>
        signBody(t, { perSecond, reading: quotaMessage }, timestamp / perSecond),
      )
      if (!answer) return
      t.observe(`the target accepts instead: ${session.reading}`)
      throw new Fault(`the target refuses the described signature, and accepts another: ${session.reading}`, {
        expected: 'an object with quota',
        actual: describeAnswer(answer),
        answer,
      })
    })
  }),

  clause('relay.quota.hash-other', (check) => {
    for (const reading of quotaReadings.slice(1)) {
      check(`another reading: ${reading}`, async (t) => {
        const answer = await sendForbidden(t, ({ timestamp }, { perSecond }) =>
          signBody(t, { perSecond, reading }, timestamp / perSecond),
        )
        t.observe(`${reading}: ${tellsQuota(answer) ? 'taken' : `refused with ${summariseAnswer(answer)}`}`)
      })
    }
  }),

  clause('relay.quota.window', (check) => {
    check('now is served', async (t) => {
      await firstTold(t)
    })

    check('the served timestamps reach over as many seconds as documented', expectDocumentedWidth)

    // Wrong time zones and wrong dates are off by an hour or a day.
    for (const [what, away] of [
      ['an hour ago', -3600],
      ['an hour ahead', 3600],
      ['a day ago', -86_400],
      ['a day ahead', 86_400],
    ] as const) {
      check(`outside of the window: ${what} is refused`, async (t) => {
        await expectRefused(t, `a timestamp of ${what}`, (valid, { perSecond, reading }) => {
          const message = { ...valid, timestamp: valid.timestamp + away * perSecond }
          return { ...message, signature: signQuota(message, t.fixture.controllers.full, reading) }
        })
      })
    }

    check('outside of the window: zero is refused', async (t) => {
      await expectRefused(t, 'a timestamp of zero', (valid, { reading }) => {
        const message = { ...valid, timestamp: 0 }
        return { ...message, signature: signQuota(message, t.fixture.controllers.full, reading) }
      })
    })

    for (const [word, sign] of [
      ['ago', -1],
      ['ahead', 1],
    ] as const) {
      check(`outside of the window: many seconds ${word} are refused`, async (t) => {
        const outside = editionTerms[t.edition].outsideSeconds
        await expectRefused(t, `a timestamp ${outside} s ${word}`, (valid, { perSecond, reading }) => {
          const message = { ...valid, timestamp: valid.timestamp + sign * outside * perSecond }
          return { ...message, signature: signQuota(message, t.fixture.controllers.full, reading) }
        })
      })
    }
  }),

  clause('relay.quota.timestamp-seconds', (check) => {
    check('seconds are served, and milliseconds are refused', async (t) => {
      const { perSecond, secondsRefused } = await quotaSession(t)
      if (perSecond === 1000 && secondsRefused) {
        throw new Fault('the target refuses a timestamp in seconds, and serves one in milliseconds', {
          expected: 'a timestamp in seconds is served',
          actual: describeAnswer(secondsRefused),
          answer: secondsRefused,
        })
      }
      await expectRefused(t, 'a timestamp in milliseconds', (valid, { reading }) => {
        const message = { ...valid, timestamp: valid.timestamp * 1000 }
        return { ...message, signature: signQuota(message, t.fixture.controllers.full, reading) }
      })
    })
  }),

  clause('relay.quota.timestamp-integer', (check) => {
    const variants: readonly (readonly [what: string, value: (timestamp: number) => unknown])[] = [
      ['a decimal string', (timestamp) => String(timestamp)],
      ['a hex string', (timestamp) => `0x${timestamp.toString(16)}`],
      ['a fraction', (timestamp) => new NumberLiteral(`${timestamp}.5`)],
      ['an array that holds it', (timestamp) => [timestamp]],
      ['a boolean', () => true],
      ['null', () => null],
    ]
    for (const [what, value] of variants) {
      check(`${what} is refused`, (t) =>
        // The signature fits the integer that a lenient reader would make of the value.
        expectRefused(t, `${what} as timestamp`, (valid) => ({ ...valid, timestamp: value(valid.timestamp) })),
      )
    }
  }),
]
