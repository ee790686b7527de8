/** A plugin that cannot be loaded. It stops the start; its message is one line that names the file and the field. */
export class PluginError extends Error {
  readonly file: string
  /** JSON pointer or name of the manifest's field; empty when the module itself is at fault. */
  readonly field: string

  constructor(file: string, field: string, reason: string, options?: ErrorOptions) {
    super([`plugin ${file}`, field, reason].filter(Boolean).join(': ').replace(/\s+/g, ' '), options)
    this.name = 'PluginError'
    this.file = file
    this.field = field
  }
}
