import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { UsageError } from './usage-error.ts'

type Scalar = string | number | boolean

const isScalar = (value: unknown): value is Scalar => ['string', 'number', 'boolean'].includes(typeof value)

/** The values of one option: a list stands for the option several times, a map for `name=value` or `Name: value`. */
function valuesOf(name: string, value: unknown): Scalar[] | undefined {
  if (isScalar(value)) return [value]
  if (Array.isArray(value)) return value.every(isScalar) ? value : undefined
  if (typeof value !== 'object' || value === null) return undefined
  const entries = Object.entries(value)
  if (!entries.every(([, member]) => isScalar(member))) return undefined
  return entries.map(([key, member]) => `${key}${name === 'header' ? ': ' : '='}${member as Scalar}`)
}

/** What an option file says: the URL of the relay, and arguments as on a command line, by option. */
export interface OptionFile {
  readonly relayUrl: string | undefined
  readonly options: readonly { readonly flag: string; readonly argv: readonly string[] }[]
}

/**
 * Reads a file of options in YAML or JSON: members are the long names of the options without `--`, and `relay-url`.
 * `true` stands for an option without a value; what is false is left out. Whether the names are known is not judged here.
 *
 * @throws UsageError
 */
export async function readOptionFile(path: string): Promise<OptionFile> {
  let content: unknown
  try {
    content = parse(await readFile(path, 'utf8')) ?? {}
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UsageError(`the options ${path} cannot be read (${(code ?? message).split('\n')[0]})`)
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new UsageError(`${path}: a map of options is expected`)
  }
  const { 'relay-url': relayUrl, ...members } = content as Record<string, unknown>
  if (relayUrl !== undefined && typeof relayUrl !== 'string') throw new UsageError(`${path}: relay-url is no text`)
  const options = Object.entries(members).map(([name, value]) => {
    const values = valuesOf(name, value)
    if (!values) throw new UsageError(`${path}: ${name} is neither a value, a list of values nor a map of them`)
    const flag = `--${name}`
    const argv = values.flatMap((one) => (one === true ? [flag] : one === false ? [] : [flag, String(one)]))
    return { flag, argv }
  })
  return { relayUrl, options }
}
