/** The run cannot start: wrong usage, an unreadable fixture or an unreachable target. The exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
