import { readFile } from 'node:fs/promises'
import { parse, YAMLError } from 'yaml'
import { UsageError } from './outcome.ts'

/**
 * Reads a file in YAML or JSON.
 *
 * @param what the file is, for the message
 * @throws UsageError it cannot be read, or is no YAML: then with the line
 */
export async function readYamlFile(path: string, what: string): Promise<unknown> {
  try {
    return parse(await readFile(path, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // The code of an error in YAML is a name of the library. A drawing of the line follows the first line of the message.
    const why = error instanceof YAMLError ? message.split('\n')[0]?.replace(/:$/, '') : (code ?? message)
    throw new UsageError(`${what} ${path} cannot be read (${why})`)
  }
}
