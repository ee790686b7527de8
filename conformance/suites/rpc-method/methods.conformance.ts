import { hexlify, Wallet } from 'ethers'
import { type Answer, describeAnswer, wordsOf, yieldsResult } from '../../lib/answer.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import { expectChainId } from '../../lib/eth-rpc/serve.ts'
import { knownTransactions } from '../../lib/eth-rpc/known-transactions.ts'
import {
  foreignTransaction,
  type KnownHashes,
  nearNames,
  otherMethods,
  sampleAddress,
  unknownHash,
  type UnlistedMethods,
  usualMethods,
} from '../../lib/eth-rpc/methods.ts'
import { numberOf } from '../../lib/eth-rpc/values.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'
import { randomBytes } from '../../lib/world.ts'

/** How many requests are under way at the same time. */
const atOnce = 4
/** How many methods to put into one batch. Some targets take no longer ones. */
const batched = 10
/** How many names of a long list to show. */
const shownNames = 10

interface BatchResponse {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

/** Hashes that the chain knows, so that the target can refuse a request for the name of its method alone. */
async function hashesOf(t: CheckContext): Promise<KnownHashes> {
  try {
    const [{ hash, fields }] = await knownTransactions(t)
    const block = fields['blockHash']
    return { transaction: hash, block: typeof block === 'string' ? block : unknownHash() }
  } catch (error) {
    if (error instanceof Untestable || error instanceof Fault)
      return { transaction: unknownHash(), block: unknownHash() }
    throw error
  }
}

/** @throws Fault that names all methods that yield a result */
async function expectNoResults(t: CheckContext, methods: UnlistedMethods): Promise<void> {
  // A target that refuses every request refuses these for another reason.
  await expectChainId(t)
  const queue = Object.entries(methods).values()
  const found: { readonly method: string; readonly answer: Answer }[] = []
  const worker = async (): Promise<void> => {
    for (const [method, params] of queue) {
      const answer = await t.rpc.call(method, params)
      if (yieldsResult(answer)) found.push({ method, answer })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  const [first] = found
  if (!first) return
  const names = found.map(({ method }) => method)
  const more = names.length > shownNames ? ` and ${names.length - shownNames} more` : ''
  const plural = names.length === 1 ? 'is not in the list and yields a result' : 'are not in the list and yield results'
  throw new Fault(`${names.slice(0, shownNames).join(', ')}${more} ${plural}`, {
    expected: 'no result',
    actual: describeAnswer(first.answer),
    answer: first.answer,
  })
}

/** A transaction for the target's chain, of a new account. A node refuses it since the account holds no coin. */
async function unfundedTransaction(chainId: bigint): Promise<string> {
  const account = new Wallet(hexlify(randomBytes(32)))
  return account.signTransaction({
    chainId,
    nonce: 0,
    to: sampleAddress,
    gasLimit: 21_000,
    gasPrice: 10n ** 9n,
    type: 0,
  })
}

/**
 * Nodes refuse both transactions, each for its own reason. Who knows no such method cannot tell them apart.
 *
 * @throws Fault when both refusals stay the same when asked again, and differ from each other
 */
async function expectSameRefusal(t: CheckContext, method: string, first: string, second: string): Promise<void> {
  const ask = (transaction: string) => t.rpc.call(method, [transaction])
  const answers = [await ask(first), await ask(second), await ask(first), await ask(second)] as const
  if (answers.some(({ failure }) => failure)) return
  const [one, other, oneAgain, otherAgain] = answers.map((answer) => `${answer.status} ${wordsOf(answer)}`)
  if (one === other || one !== oneAgain || other !== otherAgain) return
  throw new Fault(
    `${method} is not in the list, and its transactions are looked into: each is refused for its own reason`,
    {
      expected: 'the same refusal, whatever the transaction',
      actual: `${describeAnswer(answers[0])} to one, ${describeAnswer(answers[1])} to another`,
      answer: answers[1],
    },
  )
}

export default [
  clause('eth-rpc.methods.unlisted-refused', (check) => {
    for (const [method, params] of Object.entries(usualMethods)) {
      check(`${method} yields no result`, (t) => expectNoResults(t, { [method]: params }))
    }

    check('no other method that nodes know yields a result', async (t) =>
      expectNoResults(t, otherMethods(await hashesOf(t))),
    )

    check('names that are like those of the list yield no result', async (t) =>
      expectNoResults(t, nearNames(await hashesOf(t))),
    )

    check('eth_sendRawTransaction hands no transaction on', async (t) => {
      const { result } = await expectChainId(t)
      const unfunded = await unfundedTransaction(numberOf(result) ?? 0n)
      await expectSameRefusal(t, 'eth_sendRawTransaction', foreignTransaction, unfunded)
    })

    check('unlisted methods in a batch yield no result', async (t) => {
      await expectChainId(t)
      const others = Object.entries(otherMethods(await hashesOf(t)))
      const methods = [...Object.entries(usualMethods), ...others.slice(0, batched)]
      const answer = await t.rpc.send(
        methods.map(([method, params], index) => ({ id: 101 + index, jsonrpc: '2.0', method, params })),
      )
      const responses = Array.isArray(answer.json) ? (answer.json as (BatchResponse | null)[]) : []
      const served = responses.filter(
        (response) => (response?.result ?? null) !== null && (response?.error ?? null) === null,
      )
      if (served.length === 0) return
      const names = served.map((response) => methods[Number(response?.id) - 101]?.[0] ?? 'a method')
      throw new Fault(`${names.join(', ')}: not in the list, and served in a batch`, {
        expected: 'no result',
        actual: describeAnswer(answer),
        answer,
      })
    })
  }),
]
