import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Numbers the turns of the event loop while `work` runs.
 *
 * @param work calls its argument to learn the number of the turn that it is in
 */
export async function countingTurns<Result>(work: (turn: () => number) => Promise<Result>): Promise<Result> {
  // What began in this turn of the event loop may end in the next one before the turn is counted.
  await nextTurn()
  let [turn, isOver] = [0, false]
  const counting = (async () => {
    for (; !isOver; turn++) await nextTurn()
  })()
  try {
    return await work(() => turn)
  } finally {
    isOver = true
    await counting
  }
}
