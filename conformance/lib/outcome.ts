/** The target did what the clause forbids, or did not do what it asks: the check fails. */
export class Fault extends Error {
  override readonly name = 'Fault'
  readonly expected: string | undefined
  readonly actual: string | undefined

  constructor(message: string, values: { expected?: string; actual?: string } = {}) {
    super(message)
    this.expected = values.expected
    this.actual = values.actual
  }
}

/** The check could not be made, and says nothing of the target: a need is not met, or the accepted twin was refused. */
export class Untestable extends Error {
  override readonly name = 'Untestable'
}
