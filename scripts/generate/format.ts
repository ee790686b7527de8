import { readFile } from 'node:fs/promises'
import { format, type FormatConfig } from 'oxfmt'

/**
 * A text as `npm run format` would leave it, because people read the generated documents, too.
 *
 * @param path what the text will be, in the repository: its name tells the language
 * @throws Error when the text is none of that language
 */
export async function formatted(path: string, text: string): Promise<string> {
  const config = await readFile(new URL('../../.oxfmtrc.json', import.meta.url), 'utf8')
  const { code, errors } = await format(path, text, JSON.parse(config) as FormatConfig)
  if (errors.length > 0) throw new Error(`${path}: ${errors.map(({ message }) => message).join('; ')}`)
  return code
}
