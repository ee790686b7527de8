import { hexlify, randomBytes, Wallet } from 'ethers'
import { summarise, type Answer } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { askQuota, isServed } from '../../lib/relay/quota.ts'
import { signCall, withTransaction } from '../../lib/relay/call.ts'
import { execute, executeTwin, isAccepted } from '../../lib/relay/execute.ts'
import { firstExecution, freshCall } from '../../lib/relay/first-execution.ts'
import { relayDigest, signDigest } from '../../lib/relay/message.ts'
import { objectOf } from '../../lib/answer.ts'

/** `taken`, or how it was refused. */
function outcome(answer: Answer): string {
  return isAccepted(answer) ? 'taken' : `refused with ${summarise(answer)}`
}

export default [
  clause('relay.execute.nonce-as-string', (check) => {
    const forms = [
      ['decimal string', (nonce: bigint) => String(nonce)],
      ['hex string', (nonce: bigint) => `0x${nonce.toString(16)}`],
    ] as const
    for (const [what, write] of forms) {
      check(`a ${what}`, async (t) => {
        await t.once('relay.execute.nonce-as-string twin', async (once) => executeTwin(once, await freshCall(once)))
        const call = await freshCall(t)
        const nonce = write(call.message.nonce)
        t.observe(`${what} ${outcome(await execute(t, withTransaction(call.body, { nonce })))}`)
      })
    }
  }),

  clause('relay.execute.unknown-fields', (check) => {
    check('beside address and transaction', async (t) => {
      const call = await freshCall(t)
      const body = { ...call.body, keyManagerAddress: call.message.keyManager, note: 'unknown' }
      t.observe(`unknown members of the body: ${outcome(await execute(t, body))}`)
    })

    check('in transaction', async (t) => {
      const { body } = await freshCall(t)
      t.observe(
        `unknown members of transaction: ${outcome(await execute(t, withTransaction(body, { note: 'unknown' })))}`,
      )
    })
  }),

  clause('relay.execute.errors', (check) => {
    check('what is no request', { needs: [] }, async (t) => {
      const { execute: path } = t.relay.paths
      const json = { 'content-type': 'application/json' }
      t.observe(`no JSON: ${summarise(await path.sendRaw('{"address":', { headers: json }))}`)
      t.observe(`an empty body: ${summarise(await path.sendRaw(undefined, { headers: json }))}`)
      t.observe(`an empty object: ${summarise(await path.sendRaw('{}', { headers: json }))}`)
      t.observe(`text/plain: ${summarise(await path.sendRaw('{}', { headers: { 'content-type': 'text/plain' } }))}`)
      t.observe(`GET: ${summarise(await path.sendRaw(undefined, { method: 'GET', headers: {} }))}`)
    })

    check('calls that cannot be executed', { needs: ['fixture', 'spend'] }, async (t) => {
      const bad = await freshCall(t)
      const signature = signDigest(Wallet.createRandom().privateKey, relayDigest(bad.message))
      t.observe(`a stranger’s signature: ${summarise(await execute(t, withTransaction(bad.body, { signature })))}`)
      const { call } = await firstExecution(t)
      const used = signCall(t, { nonce: call.message.nonce })
      t.observe(`a used nonce: ${summarise(await execute(t, used.body))}`)
      const { body } = await freshCall(t)
      const address = hexlify(randomBytes(20))
      t.observe(`an address without a profile: ${summarise(await execute(t, { ...body, address }))}`)
      const noRelay = await freshCall(t, { controller: t.fixture.controllers.noRelay })
      t.observe(`a controller without the permission: ${summarise(await execute(t, noRelay.body))}`)
    })
  }),

  clause('relay.execute.exhausted', (check) => {
    check('a call when nothing is left', async (t) => {
      const answer = await askQuota(t)
      if (!isServed(answer)) return t.observe(`not asked: POST /quota tells no quota (${summarise(answer)})`)
      const { quota, unit } = objectOf(answer) ?? {}
      if (typeof quota === 'number' && quota <= 0) {
        const { body } = await freshCall(t)
        t.spending.ask()
        return t.observe(`answered with ${summarise(await t.relay.execute(body, { takeRateLimit: true }))}`)
      }
      t.observe(`not asked: ${String(quota)} ${String(unit)} are left, and this suite does not spend them all`)
    })
  }),
]
