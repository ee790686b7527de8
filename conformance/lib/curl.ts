import type { RecordedRequest } from './report-types.ts'

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** Not in a request that somebody types: curl sets them itself. */
const ownHeaders = new Set(['content-length', 'host', 'connection', 'user-agent'])

/** A recorded request as one command for a POSIX shell. What was shortened or left out of the record stays so. */
export function curlOf({ method, url, headers, body }: RecordedRequest): string {
  const sent = Object.entries(headers).filter(([name]) => !ownHeaders.has(name.toLowerCase()))
  return [
    'curl -sS -i',
    `-X ${method}`,
    quoted(url),
    ...sent.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-binary ${quoted(body)}`]),
  ].join(' ')
}
