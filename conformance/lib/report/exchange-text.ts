import type { CheckResult, Exchange, RecordedRequest } from '../report-types.ts'
import { shorten } from './layout.ts'

/**
 * The exchanges of a failed check that tell most: the one that shows the fault, and behind it the last of the others.
 * Where none is known to show it, the last ones in their order.
 *
 * @param most how many
 */
export function tellingExchanges({ exchanges, error }: CheckResult, most: number): Exchange[] {
  const telling = error?.exchange === undefined ? undefined : exchanges[error.exchange]
  if (!telling) return exchanges.slice(-most)
  const others = exchanges.filter((exchange) => exchange !== telling)
  return [telling, ...(most > 1 ? others.slice(1 - most) : [])]
}

export interface ExchangeText {
  /** `POST http://…`, the headers, an empty line, the body. */
  readonly request: string
  /** `200`, the headers, an empty line, the body; or why there is none. */
  readonly response: string
}

export interface ExchangeTextOptions {
  /** Characters of a body that are shown. */
  readonly bodyLimit: number
  readonly headers: boolean
}

function message(first: string, headers: Readonly<Record<string, string>>, body: string, options: ExchangeTextOptions) {
  const lines = [first]
  if (options.headers) for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (body !== '') {
    if (options.headers) lines.push('')
    lines.push(shorten(body, options.bodyLimit))
  }
  return lines.join('\n')
}

/** One request and its answer as plain text. Secrets were taken out when it was recorded. */
export function exchangeText(exchange: Exchange, options: ExchangeTextOptions): ExchangeText {
  const { request, response, failure } = exchange
  return {
    request: message(`${request.method} ${request.url}`, request.headers, request.body ?? '(no body)', options),
    response:
      response === null
        ? `no answer: ${failure?.message ?? 'unknown'}`
        : message(
            `HTTP ${response.status}`,
            response.headers,
            (response.body === '' ? '(empty body)' : response.body) +
              (response.truncated ? ' … (the rest was not recorded)' : ''),
            options,
          ),
  }
}

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
