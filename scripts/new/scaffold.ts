import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { formatted } from '../generate/format.ts'

/** The files of a new plugin or suite. Paths are relative to the repository. */
export interface Scaffold {
  /** New files, by path; formatted when they are written. */
  readonly files: ReadonlyMap<string, string>
  /** Changes of existing files, by path. */
  readonly edits?: ReadonlyMap<string, (text: string) => string>
  /** Whether the generated files have to be made again. */
  readonly regenerate?: true
  /** The steps that are left to the author, a line each. */
  readonly next: readonly string[]
}

/**
 * Writes a scaffold, formatted, and makes the generated files again if it changes them.
 *
 * @returns the paths, in the order in which they were given
 */
export async function writeScaffold(
  root: string,
  { files, edits, regenerate }: Scaffold,
): Promise<{ written: string[]; changed: string[] }> {
  // All edits are tried first: when one does not fit, no file is written.
  const edited = await Promise.all(
    [...(edits ?? [])].map(async ([path, edit]) => [path, edit(await readFile(join(root, path), 'utf8'))] as const),
  )
  for (const [path, text] of [...files, ...edited]) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), await formatted(path, text))
  }
  const changed = edited.map(([path]) => path)
  if (regenerate) {
    // Another process does it, because this one has read the old schemas.
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'scripts/touchstone.ts'), 'generate'])
    changed.push(
      ...stdout
        .trim()
        .split('\n')
        .filter((path) => /openapi|openrpc/.test(path)),
    )
  }
  return { written: [...files.keys()], changed }
}
