import { hexlify } from 'ethers'
import { type Answer, summariseAnswer } from '../../lib/answer.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import { showDecimal, toNumber } from '../../lib/lossless-json.ts'
import { hashIn, isAccepted, normalHash } from '../../lib/relay/answers.ts'
import { inTurn, type ValidOptions } from '../../lib/relay/attempt.ts'
import { type RelayCall, withTransaction } from '../../lib/relay/call.ts'
import { execute } from '../../lib/relay/execute.ts'
import { expectTwin, firstExecution, freshCall, refusalIn } from '../../lib/relay/executions.ts'
import { relayDigest, signDigest, strangerAccount } from '../../lib/relay/message.ts'
import { askQuota, firstTold } from '../../lib/relay/quota.ts'
import { waitForReceipt } from '../../lib/relay/receipt.ts'
import { randomBytes } from '../../lib/world.ts'

/** The headers whose name fits the pattern, as `name: value`. */
function headersLike(answer: Answer, pattern: RegExp): string {
  const found = Object.entries(answer.headers).filter(([name]) => pattern.test(name))
  return found.map(([name, value]) => `${name}: ${value}`).join(', ')
}

/** `taken`, or the refusal. */
function outcome(answer: Answer): string {
  return isAccepted(answer) ? 'taken' : `refused with ${summariseAnswer(answer)}`
}

/** Sends a call that was made from a valid one, and waits until its nonce is free again. */
function offer(t: CheckContext, alter: (call: RelayCall) => unknown, options?: ValidOptions): Promise<Answer> {
  return inTurn(t, async () => {
    const answer = await execute(t, alter(await freshCall(t, options)))
    if (isAccepted(answer) && t.hasChain) await waitForReceipt(t, normalHash(String(hashIn(answer))))
    return answer
  })
}

export default [
  clause('relay.auth.no-other-credential', (check) => {
    check('POST /execute', { needs: ['fixture', 'spend'] }, async (t) => {
      const refusal = refusalIn(await firstExecution(t), 'relay.auth.no-other-credential')
      if (refusal) throw refusal
    })

    check('POST /quota', { needs: ['fixture'] }, async (t) => {
      await firstTold(t)
    })
  }),

  clause('relay.limits.rate', (check) => {
    check('headers of POST /quota', async (t) => {
      const answer = await t.once('relay.quota {}', ({ relay }) => relay.quota({}, { takeRateLimit: true }))
      t.observe(headersLike(answer, /rate-?limit|retry-after/) || 'no header tells of a rate limit')
    })
  }),

  clause('relay.versioning', (check) => {
    check('headers of POST /quota', async (t) => {
      const answer = await t.once('relay.quota {}', ({ relay }) => relay.quota({}, { takeRateLimit: true }))
      t.observe(headersLike(answer, /version/) || 'no header tells a version')
    })
  }),

  clause('relay.execute.nonce-as-string', (check) => {
    const forms = [
      ['decimal string', (nonce: bigint) => String(nonce)],
      ['hex string', (nonce: bigint) => `0x${nonce.toString(16)}`],
    ] as const
    for (const [what, write] of forms) {
      check(`a ${what}`, async (t) => {
        await t.once('relay.execute.nonce-as-string twin', expectTwin)
        const answer = await offer(t, ({ body, message }) => withTransaction(body, { nonce: write(message.nonce) }))
        t.observe(`${what} ${outcome(answer)}`)
      })
    }
  }),

  clause('relay.execute.unknown-fields', (check) => {
    check('beside address and transaction', async (t) => {
      const answer = await offer(t, ({ body, message }) => ({
        ...body,
        keyManagerAddress: message.keyManager,
        note: 'unknown',
      }))
      t.observe(`unknown members of the body: ${outcome(answer)}`)
    })

    check('in transaction', async (t) => {
      const answer = await offer(t, ({ body }) => withTransaction(body, { note: 'unknown' }))
      t.observe(`unknown members of transaction: ${outcome(answer)}`)
    })
  }),

  clause('relay.execute.errors', (check) => {
    check('bodies that are no request', { needs: [] }, async (t) => {
      const { execute: path } = t.relay.paths
      const json = { 'content-type': 'application/json' }
      t.observe(`no JSON: ${summariseAnswer(await path.sendRaw('{"address":', { headers: json }))}`)
      t.observe(`an empty body: ${summariseAnswer(await path.sendRaw(undefined, { headers: json }))}`)
      t.observe(`an empty object: ${summariseAnswer(await path.sendRaw('{}', { headers: json }))}`)
      t.observe(
        `text/plain: ${summariseAnswer(await path.sendRaw('{}', { headers: { 'content-type': 'text/plain' } }))}`,
      )
      t.observe(`GET: ${summariseAnswer(await path.sendRaw(undefined, { method: 'GET', headers: {} }))}`)
    })

    check('calls that cannot be executed', { needs: ['fixture', 'spend'] }, async (t) => {
      const stranger = await offer(t, ({ body, message }) => {
        const signature = signDigest(strangerAccount(), relayDigest(message))
        return withTransaction(body, { signature })
      })
      t.observe(`a stranger’s signature: ${summariseAnswer(stranger)}`)
      const { call } = await firstExecution(t)
      const used = await offer(t, ({ body }) => body, { nonce: call.message.nonce })
      t.observe(`a used nonce: ${summariseAnswer(used)}`)
      const address = hexlify(randomBytes(20))
      t.observe(
        `an address without a profile: ${summariseAnswer(await offer(t, ({ body }) => ({ ...body, address })))}`,
      )
      const noRelay = await offer(t, ({ body }) => body, { controller: t.fixture.controllers.noRelay })
      t.observe(`a controller without the permission: ${summariseAnswer(noRelay)}`)
    })
  }),

  clause('relay.execute.exhausted', (check) => {
    check('a call when nothing is left', async (t) => {
      const { quota, unit } = await askQuota(t)
      if (!quota) return t.observe('not asked: POST /quota tells no number')
      if (toNumber(quota) > 0) {
        t.observe(`not asked: ${showDecimal(quota)} ${String(unit)} are left, and this suite does not spend them all`)
        return
      }
      const { body } = await freshCall(t)
      t.spending.ask()
      t.observe(`answered with ${summariseAnswer(await t.relay.execute(body, { takeRateLimit: true }))}`)
    })
  }),
]
