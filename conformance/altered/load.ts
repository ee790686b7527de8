import { readdir } from 'node:fs/promises'
import type { ClauseId } from '../../specs/index.ts'
import type { Lawful, Mutant } from './define.ts'

/** Altered servers lie at the path of the suite that must judge them. */
const folders = {
  mutants: new URL('../mutants/', import.meta.url),
  lawful: new URL('../lawful/', import.meta.url),
} as const

/** A mutant with its full name: the clause, and its own name behind `--` when it has one. */
export interface NamedMutant<Id extends string = string> {
  readonly name: string
  readonly mutant: Mutant<Id>
  /** `<kind>/<id>` of its file; of a suite of somebody else, its name. */
  readonly path: string
}

export interface NamedLawful<Id extends string = string> {
  readonly name: string
  readonly lawful: Lawful<Id>
  /** `<kind>/<id>` of its file; of a suite of somebody else, its name. */
  readonly path: string
}

async function loadLists<T>(kind: keyof typeof folders): Promise<(readonly [path: string, item: T])[]> {
  const folder = folders[kind]
  const files = (await readdir(folder, { recursive: true })).filter((file) =>
    new RegExp(`\\.${kind}\\.(ts|js)$`).test(file),
  )
  const lists = files.sort().map(async (file) => {
    const { default: items } = (await import(new URL(file, folder).href)) as { default: readonly T[] }
    const path = file.replace(/\\/g, '/').replace(/\.(mutants|lawful)\.(ts|js)$/, '')
    return items.map((item) => [path, item] as const)
  })
  return (await Promise.all(lists)).flat()
}

/** The full name of a mutant. */
export function nameOf({ clause, name }: Pick<Mutant<string>, 'clause' | 'name'>): string {
  return name === undefined ? clause : `${clause}--${name}`
}

/** Every mutant, from `mutants/<kind>/<id>.mutants.ts`, by name. */
export async function loadMutants(): Promise<NamedMutant<ClauseId>[]> {
  const found = await loadLists<Mutant>('mutants')
  return found
    .map(([path, mutant]) => ({ name: nameOf(mutant), mutant, path }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Every lawful server, from `lawful/<kind>/<id>.lawful.ts`, in the order of the files. */
export async function loadLawful(): Promise<NamedLawful<ClauseId>[]> {
  const found = await loadLists<Lawful>('lawful')
  return found.map(([path, lawful]) => ({ name: lawful.id, lawful, path }))
}
