import { describe, isSuccess, type Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { Fault } from '../outcome.ts'
import type { RelayCall } from './call.ts'
import { execute, hashIn, isHash } from './execute.ts'
import { readData } from './profile.ts'
import { waitForReceipt, type Receipt } from './receipt.ts'

/** A request that must not be executed. */
export interface Forbidden {
  readonly body: unknown
  /** The data keys of the profile that it would fill. */
  readonly keys: readonly string[]
  /** For the message: `a stranger's signature`. */
  readonly what: string
}

/** The profile holds nothing under any of the keys. @throws Fault */
export async function expectNoTrace(
  t: CheckContext,
  { keys, what }: Omit<Forbidden, 'body'>,
  actual: string,
): Promise<void> {
  for (const key of keys) {
    if ((await readData(t.chain, t.fixture.profile.address, key)) === '0x') continue
    throw new Fault(`it was executed: ${what}`, { expected: 'nothing on the chain', actual })
  }
}

/**
 * Sends a request and makes sure that nothing came of it on the profile. A refusal, a hash of a reverted transaction and
 * a hash that the chain never sees have all executed nothing; what they cost is noted.
 *
 * @param barrier a valid call, sent afterwards: once that one is on the chain, what was sent before is as well
 * @returns the answer, and the receipt of the transaction that was sent for it nevertheless
 * @throws Fault when it was executed
 */
export async function expectNotExecuted(
  t: CheckContext,
  forbidden: Forbidden,
  barrier?: RelayCall,
): Promise<{ answer: Answer; receipt: Receipt | undefined }> {
  const { body, what } = forbidden
  const answer = await execute(t, body)
  const hash = hashIn(answer)
  const receipt = isHash(hash) ? await waitForReceipt(t, hash) : undefined
  if (answer.failure) t.observe(`${what}: ${answer.failure.message}`)
  else if (receipt?.status === '0x0') t.observe(`${what}: a transaction was spent on it, and reverted`)
  else if (isSuccess(answer)) t.observe(`${what}: answered with a status of success`)

  if (barrier) {
    const after = hashIn(await execute(t, barrier.body))
    if (isHash(after)) await waitForReceipt(t, after)
  }
  await expectNoTrace(t, forbidden, describe(answer))
  return { answer, receipt }
}
