import type { CheckContext } from '../context.ts'
import { Fault } from '../outcome.ts'
import type { RelayCall } from './call.ts'
import { execute, expectAccepted, requireExecutable } from './execute.ts'
import { readData } from './profile.ts'
import { waitForReceipt, type Receipt } from './receipt.ts'

/**
 * Waits for the transaction of an accepted call and looks at its effect.
 * @throws Fault when the chain does not know it, it reverted, or the profile does not hold what the call sets
 */
export async function expectEffect(t: CheckContext, call: RelayCall, hash: string): Promise<Receipt> {
  const receipt = await waitForReceipt(t, hash)
  if (!receipt)
    throw new Fault('the chain does not know the transaction', { expected: `a transaction ${hash}`, actual: 'none' })
  if (receipt.status !== '0x1') {
    throw new Fault('the transaction reverted', {
      expected: 'a transaction that executes the call',
      actual: `status ${receipt.status}`,
    })
  }
  const value = await readData(t.chain, t.fixture.profile.address, call.key)
  if (value !== call.value) {
    throw new Fault('the call had no effect on the profile', {
      expected: `the value ${call.value} under the data key ${call.key}`,
      actual: value === '0x' ? 'no value' : value,
    })
  }
  return receipt
}

/** Sends a valid call and sees it executed. @throws Fault, Untestable */
export async function expectExecuted(t: CheckContext, call: RelayCall): Promise<Receipt> {
  await requireExecutable(t, call)
  const hash = await expectAccepted(t, await execute(t, call.body))
  return expectEffect(t, call, hash)
}
