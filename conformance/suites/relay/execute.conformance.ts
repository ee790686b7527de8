import { concat, hexlify, ZeroAddress } from 'ethers'
import type { ClauseId } from '../../../specs/index.ts'
import { describeAnswer } from '../../lib/answer.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import { Fault } from '../../lib/outcome.ts'
import { profileAbi } from '../../lib/relay/contracts.ts'
import { hashIn, isAccepted, normalHash } from '../../lib/relay/answers.ts'
import { attemptCall, inTurn, type Attempt, type ValidOptions } from '../../lib/relay/attempt.ts'
import { nonceIn, randomChannel, relayForm, signCall } from '../../lib/relay/call.ts'
import { execute } from '../../lib/relay/execute.ts'
import {
  expectNotExecuted,
  expectTwin,
  firstExecution,
  freshCall,
  isDone,
  lookAgain,
  refusalIn,
  requireFirstExecution,
} from '../../lib/relay/executions.ts'
import { executedCalls, otherTransactionFault, type ReceiptLog, waitForReceipt } from '../../lib/relay/receipt.ts'
import { randomBytes } from '../../lib/world.ts'

/** @throws Fault of the first execution against one of these clauses, in their order; otherwise its first fault */
function requireNone({ faults }: Attempt, ...ids: readonly ClauseId[]): void {
  for (const id of ids) {
    const fault = faults.find(({ of }) => of === id)
    if (fault) throw fault
  }
}

/**
 * The first execution.
 *
 * @throws what keeps the checks from judging it
 */
async function takenFirst(t: CheckContext): Promise<Attempt> {
  const first = await firstExecution(t)
  if (first.hash === undefined && first.faults[0]) throw first.faults[0]
  return first
}

/**
 * Makes sure that each valid call of the run has changed the profile once, late effects included.
 *
 * @throws Fault when one did not
 */
async function expectOnce(t: CheckContext): Promise<void> {
  await requireFirstExecution(t)
  const executed = await executedCalls(t)
  const [first] = executed
  if (!first) return
  const { address } = t.fixture.profile
  const topic = profileAbi.getEvent('DataChanged')?.topicHash
  const filter = { address, topics: [topic], fromBlock: first.receipt.blockNumber, toBlock: 'latest' }
  const logs = (await t.chain.send('eth_getLogs', [filter])) as readonly ReceiptLog[]
  for (const { call, answer } of executed) {
    if (!call.hasOwnKey) continue
    const count = logs.filter(({ topics }) => topics[1] === call.key).length
    if (count <= 1) continue
    throw new Fault('a call was executed more than once', {
      expected: `one change under the data key ${call.key}`,
      actual: `${count} changes`,
      answer,
    })
  }
}

/** More data than most calls bring, in words of 32 bytes. It takes some 350,000 gas. */
const manyWords = 12

/**
 * Sends a valid call that is unlike the others of the run. A target may refuse it, since the documents show no policies. One
 * that takes it must execute it.
 *
 * @throws Fault when the target takes the call and does not execute it
 */
async function expectExecutedIfTaken(t: CheckContext, what: string, options: ValidOptions): Promise<void> {
  await requireFirstExecution(t)
  const attempt = await attemptCall(t, options)
  const [fault, ...others] = attempt.faults
  if (attempt.hash === undefined && !attempt.isExecuted)
    return t.observe(`${what} is refused: ${describeAnswer(attempt.answer)}`)
  for (const other of others) t.accuse(other)
  if (fault) throw fault
}

/** A wei of the profile goes to an account that has none. */
async function expectTransfer(t: CheckContext): Promise<void> {
  const balance = BigInt(String(await t.chain.send('eth_getBalance', [t.fixture.profile.address, 'latest'])))
  if (balance === 0n) return t.observe('not seen: a call that sends coin, since the profile has none')
  await expectExecutedIfTaken(t, 'a call that sends a wei', { payee: hexlify(randomBytes(20)) })
}

const owed = { owedBy: 'relay.execute.post' } as const
const atTheEnd = { needs: ['chain', 'fixture', 'spend'], isLast: true } as const

/** So many calls are sent at once. */
const together = 4

/**
 * Sends calls of channels of their own at once. A target may refuse some of them, or carry several in one transaction.
 *
 * @throws Fault when the hash is that of a transaction without the call
 */
async function expectOwnHashes(t: CheckContext): Promise<void> {
  await requireFirstExecution(t)
  const form = await relayForm(t)
  const calls = Array.from({ length: together }, () => signCall(t, { ...form, nonce: nonceIn(randomChannel(), 0n) }))
  const answers = await Promise.all(calls.map(async (call) => ({ call, answer: await execute(t, call.body, owed) })))
  const taken = answers.filter(({ answer }) => isAccepted(answer))
  if (taken.length < answers.length)
    t.observe(`${answers.length - taken.length} of ${together} calls at once are refused`)
  for (const { call, answer } of taken) {
    const receipt = await waitForReceipt(t, normalHash(String(hashIn(answer))))
    const fault = receipt?.status === '0x1' ? otherTransactionFault(t, call, receipt, answer) : undefined
    if (fault) throw fault
  }
}

/**
 * Sends a payload twice, with one nonce after the other, as one pays the same sum twice. A target may refuse the second call.
 *
 * @throws Fault when the second call gets the hash of the first one, which was mined before it was sent
 */
async function expectAnotherHash(t: CheckContext): Promise<void> {
  await requireFirstExecution(t)
  await inTurn(t, async () => {
    const { key, value, body } = await freshCall(t)
    const answer = await execute(t, body, owed)
    const earlier = isAccepted(answer) ? normalHash(String(hashIn(answer))) : undefined
    const receipt = earlier === undefined ? undefined : await waitForReceipt(t, earlier)
    if (receipt?.status !== '0x1')
      return t.observe('not seen: the first of two calls with one payload was not executed')
    const again = await execute(t, (await freshCall(t, { key, value })).body, owed)
    if (!isAccepted(again)) return t.observe('a call with the payload of an earlier one is refused')
    const hash = normalHash(String(hashIn(again)))
    if (hash !== earlier) return void (await waitForReceipt(t, hash))
    throw new Fault('the target told the hash of an earlier call, for another one with the same payload', {
      expected: 'the hash of another transaction, or a refusal',
      actual: hash,
      answer: again,
    })
  })
}

export default [
  clause('relay.execute.post', (check) => {
    check('takes a signed call and succeeds', async (t) => {
      const first = await firstExecution(t)
      const refusal = refusalIn(first)
      if (refusal) throw refusal
    })
  }),

  clause('relay.execute.response', (check) => {
    check('answers with transactionHash, a hex string of 32 bytes', async (t) => {
      const first = await firstExecution(t)
      requireNone(first, 'relay.execute.response')
      const { hash, answer } = await takenFirst(t)
      if (hash !== undefined && !/"0x/i.test(answer.text)) t.observe('transactionHash is written without 0x')
    })
  }),

  clause('relay.execute.hash-of-transaction', (check) => {
    check('the chain knows the transaction by that hash', async (t) => {
      requireNone(await takenFirst(t), 'relay.execute.hash-of-transaction')
    })

    // A target that keeps what it answers in one place for all requests mixes them up. Some die of two channels, so this
    // comes last.
    check('calls at once get each the hash of its own transaction', atTheEnd, expectOwnHashes)

    check('a payload that was executed before gets the hash of a transaction of its own', atTheEnd, expectAnotherHash)
  }),

  clause('relay.execute.execute-relay-call', (check) => {
    check('the transaction brings the signed call to the key manager', async (t) => {
      requireNone(await takenFirst(t), 'relay.execute.execute-relay-call', 'relay.execute.hash-of-transaction')
    })
  }),

  clause('relay.execute.on-behalf', (check) => {
    check('the profile holds what the call sets', async (t) => {
      const first = await firstExecution(t)
      requireNone(first, 'relay.execute.on-behalf')
      if (!isDone(t, first) && first.faults[0]) throw first.faults[0]
    })

    const executing = { needs: ['chain', 'fixture', 'spend'] } as const
    check('a call that sends coin of the profile is executed, where it is taken', executing, expectTransfer)

    check('a call with much data is executed, where it is taken', executing, (t) =>
      expectExecutedIfTaken(t, 'a call with much data', {
        value: concat(Array.from({ length: manyWords }, () => randomBytes(32))),
      }),
    )

    const others: readonly (readonly [what: string, address: (t: CheckContext) => string | undefined])[] = [
      ['of nobody', () => hexlify(randomBytes(20))],
      ['of the controller', ({ fixture }) => fixture.controllers.full.address],
      ['of another contract', ({ fixture }) => fixture.logs?.emitter],
      ['of the key manager', ({ fixture }) => fixture.profile.keyManager],
      ['zero', () => ZeroAddress],
    ]
    for (const [what, addressOf] of others) {
      check(`with the address ${what} nothing is executed`, async (t) => {
        const address = addressOf(t)
        if (address === undefined) return
        await t.once('relay.execute.on-behalf twin', expectTwin)
        await expectNotExecuted(t, {
          of: 'relay.execute.on-behalf',
          what: `a call for the address ${what}`,
          alter: ({ body }) => ({ body: { ...body, address } }),
        })
      })
    }

    check('none of these calls is executed later on', { looksBack: true }, (t) =>
      lookAgain(t, 'relay.execute.on-behalf'),
    )

    check('each call of the run is executed once', { looksBack: true }, expectOnce)
  }),

  clause('relay.execute.signature-authenticates', (check) => {
    check('the signed message alone is enough', async (t) => {
      const refusal = refusalIn(await firstExecution(t), 'relay.execute.signature-authenticates')
      if (refusal) throw refusal
    })
  }),
]
