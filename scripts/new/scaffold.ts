/** What a new plugin consists of. Paths are relative to the repository. */
export interface Scaffold {
  /** New files, by path; formatted when they are written. */
  readonly files: ReadonlyMap<string, string>
  /** Changes of files that are there, by path. */
  readonly edits?: ReadonlyMap<string, (text: string) => string>
  /** Generated files have to be made anew. */
  readonly regenerate?: true
  /** What is left to the author, a line each. */
  readonly next: readonly string[]
}
