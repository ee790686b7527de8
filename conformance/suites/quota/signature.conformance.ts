import { hexlify } from 'ethers'
import { type CheckContext, clause } from '../../lib/clause.ts'
import { Fault } from '../../lib/outcome.ts'
import { askQuota, expectRefused, firstTold } from '../../lib/relay/quota.ts'
import { quotaSession, signBody, type QuotaBody } from '../../lib/relay/quota-session.ts'
import { signQuota, strangerAccount, type QuotaReading } from '../../lib/relay/message.ts'
import { randomBytes } from '../../lib/world.ts'

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
]

export default [
  clause('relay.quota.sign-permission', (check) => {
    check('a controller with SIGN is served', async (t) => {
      await firstTold(t)
    })

    check('a controller with SIGN and without EXECUTE_RELAY_CALL is served', async (t) => {
      const refused = await askQuota(t, t.fixture.controllers.noRelay).then(
        () => undefined,
        (error: unknown) => {
          if (error instanceof Fault && error.of === 'relay.quota.post') return error
          throw error
        },
      )
      if (!refused) return
      // A target that refuses a valid request now says nothing about permissions.
      await askQuota(t)
      const answer = refused.answer
      throw new Fault('a controller that holds SIGN was refused', {
        expected: 'an answer with quota, as for the controller with every permission',
        actual: refused.actual ?? '',
        ...(answer && { answer }),
      })
    })

    check('a controller without SIGN is refused', async (t) => {
      const { noSign } = t.fixture.controllers
      await expectSignatureRefused(t, 'a controller without SIGN', (body, reading) => signQuota(body, noSign, reading))
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
      await expectSignatureRefused(t, 'a signature over another timestamp', (body, reading) =>
        signQuota({ ...body, timestamp: body.timestamp - 1 }, t.fixture.controllers.full, reading),
      )
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

    check('a signature of zeros is refused', async (t) => {
      await expectSignatureRefused(t, 'a signature of zeros', () => `0x${'00'.repeat(65)}`)
    })
  }),
]
