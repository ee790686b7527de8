import { readdir } from 'node:fs/promises'
import type { Mutant } from './define.ts'

/** A mutant with the name of its file: the clause, and more behind `--` when the clause has several. */
export interface NamedMutant {
  readonly name: string
  readonly mutant: Mutant
}

/** Every mutant of this folder, by name. Files that are named after no clause help the others. */
export async function loadMutants(): Promise<NamedMutant[]> {
  const folder = new URL('./', import.meta.url)
  const files = (await readdir(folder)).filter(
    (file) => /^(relay|eth-rpc)\..*\.(ts|js)$/.test(file) && !file.endsWith('.d.ts'),
  )
  return Promise.all(
    files.sort().map(async (file) => {
      const { default: mutant } = (await import(new URL(file, folder).href)) as { default: Mutant }
      return { name: file.replace(/\.(ts|js)$/, ''), mutant }
    }),
  )
}
