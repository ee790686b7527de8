import type { Exchange } from '../report-types.ts'
import { shorten } from './shorten.ts'

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
