import { UsageError } from './usage-error.ts'

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
