/** The folder of the embedded database cannot be used; the message is one line, which names it. */
export class DatabaseFolderError extends Error {
  readonly folder: string

  constructor(folder: string, problem: string, options?: ErrorOptions) {
    super(`the database folder ${folder} ${problem}`.replace(/\s+/g, ' '), options)
    this.name = 'DatabaseFolderError'
    this.folder = folder
  }
}
