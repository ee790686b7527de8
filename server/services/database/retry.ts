/** Unique violation, deadlock, serialisation failure: another transaction was faster, and a second look is right. */
const conflicts: ReadonlySet<unknown> = new Set(['23505', '40P01', '40001'])
const MAX_TRIES = 5

/**
 * Runs a database transaction anew when it lost against another one.
 *
 * @param work gets the number of the try, from 1
 */
export async function retryOnConflict<Result>(work: (tries: number) => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work(tries)
    } catch (error) {
      if (tries >= MAX_TRIES || !conflicts.has((error as { code?: unknown }).code)) throw error
    }
  }
}
