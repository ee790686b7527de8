import { describeAnswer, isServed, memberOf } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { stringify } from '../lossless-json.ts'
import { Fault } from '../outcome.ts'
import { eventually } from './eventually.ts'
import { expectServed, type Served } from './serve.ts'

/** The two methods that take a hash and nothing else. */
export type LookUp = 'eth_getTransactionByHash' | 'eth_getTransactionReceipt'

/** What the target returns for a transaction. */
export interface Found extends Served {
  readonly result: Readonly<Record<string, unknown>>
}

function isObject(value: unknown): value is Found['result'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether the target returns the transaction as mined, and not as pending. */
function isMined({ result }: Served): boolean {
  return isObject(result) && result['blockNumber'] !== null
}

/** Whether the target finds the transaction under another spelling of its hash. */
async function isFoundOtherwise(t: CheckContext, method: LookUp, hash: string): Promise<boolean> {
  const digits = hash.slice(2)
  for (const spelling of [digits, `0x${digits.toUpperCase()}`]) {
    const answer = await t.rpc.call(method, [spelling])
    if (isServed(answer) && isObject(memberOf(answer, 'result'))) return true
  }
  return false
}

function sameHash(found: unknown, hash: string): boolean {
  const digits = (text: string) => text.toLowerCase().replace(/^0x/, '')
  return typeof found === 'string' && digits(found) === digits(hash)
}

/**
 * Looks up a mined transaction, again and again while it is missing: the target may learn of a young one a moment
 * later than our node.
 *
 * @throws Fault of the sentence that the answer contradicts
 */
export async function findTransaction(t: CheckContext, method: LookUp, hash: string): Promise<Found> {
  const { answer, result } = await eventually(t, () => expectServed(t, method, [hash]), isMined)
  if (!isObject(result)) {
    const of = (await isFoundOtherwise(t, method, hash)) ? 'eth-rpc.types.hash' : (`eth-rpc.${method}.success` as const)
    const expected = `the transaction or receipt of ${hash}`
    throw new Fault('a mined transaction is not found', { expected, actual: describeAnswer(answer), answer, of })
  }
  const named = result[method === 'eth_getTransactionByHash' ? 'hash' : 'transactionHash']
  if (named !== undefined && !sameHash(named, hash)) {
    const of = `eth-rpc.${method}.success` as const
    throw new Fault('the result is about another transaction', {
      expected: hash,
      actual: stringify(named),
      answer,
      of,
    })
  }
  return { answer, result }
}
