import type { CheckResult, Exchange, RecordedRequest } from '../report-types.ts'
import { shorten } from './words.ts'

/**
 * The exchanges of a failed check that tell most: first the one that shows the fault, then the last of the others.
 * Where no exchange is known to show the fault, the last ones in their order.
 *
 * @param most how many exchanges to return
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
  /** How many characters of a body to show. */
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

/** A request and its answer as plain text. The record holds no secrets. */
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

/** curl sets these headers itself. */
const ownHeaders = new Set(['content-length', 'host', 'connection', 'user-agent'])

/**
 * A recorded request as a command for a POSIX shell. The command holds what the record holds. The report may come
 * from a stranger, so each part is one quoted word, the URL is no option and no pattern, and the body names no file.
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
