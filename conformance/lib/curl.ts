import type { RecordedRequest } from './report-types.ts'

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** Not in a request that somebody types: curl sets them itself. */
const ownHeaders = new Set(['content-length', 'host', 'connection', 'user-agent'])

/**
 * A recorded request as one command for a POSIX shell. What was shortened or left out of the record stays so. A report may
 * come from a stranger: each part is one quoted word, the URL is no option and no pattern, and a body never names a file.
 */
export function curlOf({ method, url, headers, body }: RecordedRequest): string {
  const sent = Object.entries(headers).filter(([name]) => !ownHeaders.has(name.toLowerCase()))
  return [
    'curl -sS -i --globoff',
    `-X ${quoted(method)}`,
    `--url ${quoted(url)}`,
    ...sent.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`]),
  ].join(' ')
}
