/** A configuration that cannot be used: one line for each fault, naming file (or variable) and member. */
export class ConfigError extends Error {
  readonly lines: readonly string[]

  constructor(lines: readonly string[], options?: ErrorOptions) {
    super(lines.join('\n'), options)
    this.name = 'ConfigError'
    this.lines = lines
  }
}
