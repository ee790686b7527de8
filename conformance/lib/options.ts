import { InvalidArgumentError } from 'commander'
import { longestTimerMs } from './deadline.ts'
import { UsageError } from './outcome.ts'
import { readYamlFile } from './yaml-file.ts'

/** Parses a count of a command line. @throws InvalidArgumentError */
export function parsePositiveInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('a whole number above zero is expected')
  return value
}

/** Parses the time of a command line. @throws InvalidArgumentError */
export function parseMilliseconds(text: string): number {
  const ms = parsePositiveInteger(text)
  if (ms > longestTimerMs) throw new InvalidArgumentError(`at most ${longestTimerMs} ms are possible`)
  return ms
}

/** The HTTP client sets these headers for each request or connection. */
const OF_THE_CONNECTION = new Set(['content-length', 'transfer-encoding', 'host', 'connection', 'expect', 'upgrade'])

/**
 * Adds the header of an option `--header "Name: value"` to the headers before it, by its name in lower case.
 *
 * @throws UsageError when the text is no header; the message leaves the value out, which may be a credential
 */
export function collectHeaders(text: string, before: Readonly<Record<string, string>>): Record<string, string> {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(text) ?? []
  // RFC 9110, 5.5 says which characters a value may hold.
  if (name === undefined || value === undefined || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw new UsageError('--header takes "Name: value"')
  }
  if (OF_THE_CONNECTION.has(name.toLowerCase())) throw new UsageError(`--header: ${name} is set for each request`)
  return { ...before, [name.toLowerCase()]: value }
}

type Scalar = string | number | boolean

const isScalar = (value: unknown): value is Scalar => ['string', 'number', 'boolean'].includes(typeof value)

/**
 * The values of one option. A list stands for the option several times; a map stands for `name=value`, or for `Name:
 * value` of a header.
 */
function valuesOf(name: string, value: unknown): Scalar[] | undefined {
  if (isScalar(value)) return [value]
  if (Array.isArray(value)) return value.every(isScalar) ? value : undefined
  if (typeof value !== 'object' || value === null) return undefined
  const entries = Object.entries(value)
  if (!entries.every(([, member]) => isScalar(member))) return undefined
  return entries.map(([key, member]) => `${key}${name === 'header' ? ': ' : '='}${member as Scalar}`)
}

/** What an option file says: the URL of the relay, and for each option its arguments as on a command line. */
export interface OptionFile {
  readonly relayUrl: string | undefined
  readonly options: readonly { readonly flag: string; readonly argv: readonly string[] }[]
}

/**
 * Reads a file of options in YAML or JSON. Its members are the long names of the options without `--`, and
 * `relay-url`. `true` stands for an option without a value; an option that is false is left out. The caller judges
 * whether an option is known.
 *
 * @throws UsageError
 */
export async function readOptionFile(path: string): Promise<OptionFile> {
  const content = (await readYamlFile(path, 'the options')) ?? {}
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
 * Where a request for the next page holds its keys, and which keys. The document says that the client repeats the
 * request "with pagination options". It shows neither the place of these options nor the third of the three required
 * parameters.
 */
export interface WayOfPaging {
  /**
   * `filter`: among the members of the filter; `second`: in an object as second parameter; `second.<name>`: under
   * this name in the second parameter; any other name: under this name in the filter.
   */
  readonly container: string
  /**
   * The name of a third key. Its value is taken from the last entry; `name=value` gives the value instead. Absent:
   * two keys.
   */
  readonly thirdKey?: string
}

/**
 * Reads `<container>[:<third key>]`, for example `paging_options:transactionIndex`.
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
