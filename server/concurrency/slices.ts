import { setImmediate as nextTurn } from 'node:timers/promises'

/** Runs a step at once or in a later turn of the event loop, and settles as the step does. */
type InSlice = <Result>(step: () => Promise<Result>) => Promise<Result>

/**
 * Bounds how long one kind of work uses the event loop in each of its turns.
 *
 * @param sliceMs no step begins in a turn whose first step began so long ago
 */
export function createSlices(sliceMs: number): InSlice {
  /** The turn in which the last step began: when its first one did, on the clock of `performance.now()`, and its end. */
  let turn: { readonly beganMs: number; readonly over: Promise<void> } | undefined
  return async (step) => {
    while (turn !== undefined && performance.now() - turn.beganMs > sliceMs) await turn.over
    turn ??= { beganMs: performance.now(), over: nextTurn().then(() => void (turn = undefined)) }
    return step()
  }
}
