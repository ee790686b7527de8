/**
 * What the operator can mend: the folder or the past of a database, a ledger of another chain, the address of a profile.
 * The message is one line, which names what is wrong. Callers of the service never see it.
 */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s+/g, ' '), options)
    this.name = 'OperatorError'
  }
}
