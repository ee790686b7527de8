import { readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'

/** Which tests a change can touch. */
export interface ChangedTests {
  /** Test files, relative to the root. */
  readonly tests: readonly string[]
  /** A changed file that no import leads to, so that every test may depend on it; undefined: there is none. */
  readonly everything: string | undefined
}

/** Finds every relative path in quotes: imports, and files that a module starts, reads or loads later. */
const NAMED = /['"`](\.{1,2}\/[^'"`\s]+)['"`]/g

/**
 * Follows the imports of all modules, backwards from the files that have changed. Plugins, suites and documents are
 * found by their names at run time: no import leads to them, so a change of one of them touches every test.
 *
 * @param root of the repository
 * @param files all files of the repository, relative to the root
 * @param changed those of them that have changed
 */
export async function changedTests(
  root: string,
  files: readonly string[],
  changed: readonly string[],
): Promise<ChangedTests> {
  const importers = await importersOf(root, files)
  const everything = changed.find((file) => !isTest(file) && (importers.get(file) ?? []).length === 0)
  const reached = new Set(changed)
  for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer)
  return { tests: [...reached].filter(isTest).sort(), everything }
}

const isTest = (file: string) => file.endsWith('.test.ts')

async function importersOf(root: string, files: readonly string[]): Promise<Map<string, string[]>> {
  const importers = new Map<string, string[]>()
  await Promise.all(
    files
      .filter((file) => /\.(ts|mjs)$/.test(file))
      .map(async (file) => {
        // A removed file imports nothing.
        const text = await readFile(join(root, file), 'utf8').catch(() => '')
        for (const [, named = ''] of text.matchAll(NAMED)) {
          const target = relative(root, resolve(root, file, '..', named))
          importers.set(target, [...(importers.get(target) ?? []), file])
        }
      }),
  )
  return importers
}
