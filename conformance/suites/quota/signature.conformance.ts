import { hexlify, randomBytes, Wallet } from 'ethers'
import { clause } from '../../lib/clause.ts'
import type { CheckContext } from '../../lib/context.ts'
import { expectNoQuota, expectQuota, quotaTwin, type QuotaBody } from '../../lib/relay/quota.ts'
import { signQuota, type QuotaReading } from '../../lib/relay/quota-message.ts'

/** Sends a valid request, then the same with another signature. */
async function expectRefused(
  t: CheckContext,
  what: string,
  sign: (body: QuotaBody, reading: QuotaReading) => string,
): Promise<void> {
  const { body, reading } = await quotaTwin(t)
  expectNoQuota(t, await t.relay.quota({ ...body, signature: sign(body, reading) }), what)
}

export default [
  clause('relay.quota.sign-permission', (check) => {
    check('a controller with SIGN is served', async (t) => {
      await expectQuota(t)
    })

    check('a controller without SIGN is refused', async (t) => {
      const { noSign } = t.fixture.controllers
      await expectRefused(t, 'a controller without SIGN', (body, reading) => signQuota(body, noSign, reading))
    })

    check('a stranger is refused', async (t) => {
      const stranger = Wallet.createRandom()
      await expectRefused(t, 'a stranger’s signature', (body, reading) => signQuota(body, stranger, reading))
    })
  }),

  clause('relay.quota.bound-to-message', (check) => {
    check('a signature over another address is refused', async (t) => {
      const { full } = t.fixture.controllers
      const address = hexlify(randomBytes(20))
      await expectRefused(t, 'a signature over another address', (body, reading) =>
        // The reading over the controller's address knows no other one: then a key of its own stands for it.
        reading === 'controller address'
          ? signQuota(body, { ...full, address }, reading)
          : signQuota({ ...body, address }, full, reading),
      )
    })

    check('a signature over another timestamp is refused', async (t) => {
      await expectRefused(t, 'a signature over another timestamp', (body, reading) =>
        signQuota({ ...body, timestamp: body.timestamp - 1 }, t.fixture.controllers.full, reading),
      )
    })

    check('a signature that was tampered with is refused', async (t) => {
      await expectRefused(t, 'a signature that was tampered with', ({ signature }) => {
        const digit = signature.at(40) === '0' ? '1' : '0'
        return `${signature.slice(0, 40)}${digit}${signature.slice(41)}`
      })
    })

    check('a signature of zeros is refused', async (t) => {
      await expectRefused(t, 'a signature of zeros', () => `0x${'00'.repeat(65)}`)
    })
  }),
]
