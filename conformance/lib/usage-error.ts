/** The run cannot start: wrong usage, unreadable fixture, unreachable target. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
