import { writeFile } from 'node:fs/promises'
import { UsageError } from '../usage-error.ts'

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
    throw new UsageError(`the report ${path} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
  }
}
