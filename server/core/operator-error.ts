/**
 * A fault that the operator can mend, such as a database folder without rights, or a ledger of another chain.
 * The message is one line, which names what is wrong. Callers of the service never see it.
 */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s+/g, ' '), options)
    this.name = 'OperatorError'
  }
}
