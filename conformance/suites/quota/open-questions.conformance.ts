import { summariseAnswer } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { sendForbidden } from '../../lib/relay/quota.ts'
import { signQuota, strangerAccount } from '../../lib/relay/message.ts'

export default [
  clause('relay.quota.unregistered', (check) => {
    check('an address that nobody registered', async (t) => {
      // A random address that signs for itself, which no relay has registered.
      const stranger = strangerAccount()
      const message = { address: stranger.address, timestamp: t.clock.now() }
      const answer = await t.relay.quota({ ...message, signature: signQuota(message, stranger) })
      t.observe(`an address without a profile: ${summariseAnswer(answer)}`)
    })
  }),

  clause('relay.quota.errors', (check) => {
    check('bodies that are no request', { needs: [] }, async (t) => {
      const { quota } = t.relay.paths
      const json = { 'content-type': 'application/json' }
      const empty = await t.once('relay.quota {}', ({ relay }) => relay.quota({}, { takeRateLimit: true }))
      t.observe(`no JSON: ${summariseAnswer(await quota.sendRaw('{"address":', { headers: json }))}`)
      t.observe(`an empty body: ${summariseAnswer(await quota.sendRaw(undefined, { headers: json }))}`)
      t.observe(`an empty object: ${summariseAnswer(empty)}`)
      t.observe(
        `text/plain: ${summariseAnswer(await quota.sendRaw('{}', { headers: { 'content-type': 'text/plain' } }))}`,
      )
      t.observe(`GET: ${summariseAnswer(await quota.sendRaw(undefined, { method: 'GET', headers: {} }))}`)
    })

    check('requests that are refused', async (t) => {
      const { full, noSign } = t.fixture.controllers
      const ask = async (signer: typeof full, away = 0): Promise<string> =>
        summariseAnswer(
          await sendForbidden(t, (valid, { perSecond, reading }) => {
            const message = { ...valid, timestamp: valid.timestamp + away * perSecond }
            return { ...message, signature: signQuota(message, signer, reading) }
          }),
        )
      t.observe(`a stranger’s signature: ${await ask(strangerAccount())}`)
      t.observe(`a controller without SIGN: ${await ask(noSign)}`)
      t.observe(`a timestamp that is long past: ${await ask(full, -3600)}`)
    })
  }),
]
