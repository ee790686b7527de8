import type { CheckContext } from '../context.ts'
import { Fault, Untestable } from '../outcome.ts'
import type { RelayCall } from './call.ts'
import { executeTwin } from './execute.ts'
import { expectEffect } from './executed.ts'
import type { Receipt } from './receipt.ts'

/** Sends an accepted twin and sees it executed. @throws Untestable when it is not: what differs by a fault proves nothing */
export async function expectTwinExecuted(t: CheckContext, call: RelayCall): Promise<Receipt> {
  try {
    return await expectEffect(t, call, await executeTwin(t, call))
  } catch (error) {
    if (error instanceof Fault) throw new Untestable(`the accepted twin was not executed: ${error.message}`)
    throw error
  }
}
