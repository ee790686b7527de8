/** What the person at the keyboard can mend: told in one line, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
