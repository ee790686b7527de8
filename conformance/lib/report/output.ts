import { access, mkdir, open, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { UsageError } from '../usage-error.ts'

/** One `--report format=path`; the path `-` is standard output. */
export interface Output<Format extends string> {
  readonly format: Format
  readonly path: string
}

/**
 * Reads `format=path`.
 *
 * @throws UsageError for an unknown format or a missing path
 */
export function parseOutput<Format extends string>(
  argument: string,
  formats: readonly Format[],
  option = '--report',
): Output<Format> {
  const [, name, path] = /^([^=]*)=(.+)$/s.exec(argument) ?? []
  const format = formats.find((known) => known === name)
  if (format === undefined || path === undefined) {
    throw new UsageError(`${option} takes ${formats.map((known) => `${known}=<file>`).join(', ')}; not "${argument}"`)
  }
  return { format, path }
}

/**
 * Makes sure before the work that a file can be written.
 *
 * @throws UsageError when it cannot
 */
export async function assertWritable(path: string): Promise<void> {
  if (path === '-') return
  const isThere = await access(path).then(
    () => true,
    () => false,
  )
  try {
    await (await open(path, 'a')).close()
  } catch (error) {
    throw unwritable(path, error)
  }
  if (!isThere) await rm(path)
}

const unwritable = (path: string, error: unknown) =>
  new UsageError(`the report ${path} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)

/**
 * Writes a text to a file, or to standard output for the path `-`.
 *
 * @throws UsageError when the file cannot be written
 */
export async function writeOutput(text: string, path: string, stdout: { write(text: string): unknown }): Promise<void> {
  if (path === '-') return void stdout.write(text)
  try {
    await writeFile(path, text)
  } catch (error) {
    throw unwritable(path, error)
  }
}

/**
 * Writes files into a folder, which is made where it is missing. Files of other names stay as they are.
 *
 * @param files texts by their paths in the folder
 * @throws UsageError when the folder cannot be written
 */
export async function writeFolder(files: ReadonlyMap<string, string>, folder: string): Promise<void> {
  try {
    for (const [path, text] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
  } catch (error) {
    throw unwritable(folder, error)
  }
}
