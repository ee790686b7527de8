import { readFile } from 'node:fs/promises'
import { InvalidArgumentError } from 'commander'
import { parse } from 'yaml'
import { UsageError } from './usage-error.ts'

/** Parses a count of a command line. @throws InvalidArgumentError */
export function parsePositiveInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('a whole number above zero is expected')
  return value
}

/** They follow from the request, or from the connection. */
const OF_THE_CONNECTION = new Set(['content-length', 'transfer-encoding', 'host', 'connection', 'expect', 'upgrade'])

/**
 * Adds what an option `--header "Name: value"` says to those before it, by names in lower case.
 *
 * @throws UsageError when it is no header; without its value, which may be a credential
 */
export function collectHeaders(text: string, before: Readonly<Record<string, string>>): Record<string, string> {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(text) ?? []
  // RFC 9110, 5.5: what may stand in a value.
  if (name === undefined || value === undefined || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw new UsageError('--header takes "Name: value"')
  }
  if (OF_THE_CONNECTION.has(name.toLowerCase())) throw new UsageError(`--header: ${name} is set for each request`)
  return { ...before, [name.toLowerCase()]: value }
}

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

/**
 * Where the keys are put and which. The document says that the request is repeated "with pagination options" and does
 * not show where these sit, nor the third of the three parameters that it says are required.
 */
export interface WayOfPaging {
  /**
   * `filter`: among the members of the filter; `second`: an object as second parameter; `second.<name>`: under a name in
   * that; any other: under this name in the filter.
   */
  readonly container: string
  /** The name of a third key, taken from the last entry as well; `name=value`: with this value; absent: two keys. */
  readonly thirdKey?: string
}

/**
 * Reads `<container>[:<third key>]`, as `paging_options:transactionIndex`.
 *
 * @throws UsageError
 */
export function parseWayOfPaging(text: string): WayOfPaging {
  const [, container, thirdKey] = /^([\w-]+(?:\.[\w-]+)?)(?::([\w-]+(?:=.*)?))?$/.exec(text) ?? []
  if (container === undefined || (container.includes('.') && !container.startsWith('second.'))) {
    throw new UsageError(`"${text}" is no way of paging: <container>[:<third key>], as paging_options:transactionIndex`)
  }
  return { container, ...(thirdKey === undefined ? {} : { thirdKey }) }
}
