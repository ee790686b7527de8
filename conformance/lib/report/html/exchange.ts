import { curlOf } from '../../curl.ts'
import type { Exchange } from '../../report-types.ts'
import { exchangeText } from '../exchange-text.ts'
import { indentJson } from '../indent-json.ts'
import { seconds } from '../seconds.ts'
import { markup, type Markup } from './markup.ts'

/** Enough for any answer but pages of logs, which are all alike. */
const bodyLimit = 6000

function laidOut(exchange: Exchange): Exchange {
  const { request, response } = exchange
  return {
    ...exchange,
    request: request.body === undefined ? request : { ...request, body: indentJson(request.body) },
    response: response === null ? null : { ...response, body: indentJson(response.body) },
  }
}

/** Verb and path, and before them the method that the body names: `eth_getLogs, POST /api/eth-rpc`, or `POST /quota`. */
function nameOf({ method: verb, url, body }: Exchange['request']): string {
  const method = /"method"\s*:\s*"([\w-]{1,60})"/.exec(body ?? '')?.[1]
  const path = url.replace(/^\w+:\/\/[^/?#]*/, '').replace(/[?#].*$/, '') || '/'
  return `${method === undefined ? '' : `${method}, `}${verb} ${path}`
}

/**
 * A request and its answer, closed until asked for.
 *
 * @param showsFault whether it is the one that the check failed by: then it stands open
 */
export function exchangeMarkup(exchange: Exchange, index: number, showsFault = false): Markup {
  const { request, response } = exchangeText(laidOut(exchange), { bodyLimit, headers: true })
  const outcome =
    exchange.response === null ? (exchange.failure?.kind ?? 'no answer') : `HTTP ${exchange.response.status}`
  return markup`<details class="exchange"${showsFault ? markup` open` : undefined}>
<summary>Request ${index + 1}: ${nameOf(exchange.request)} <span class="muted">→ ${outcome}, ${seconds(exchange.durationMs)}</span></summary>
<p class="label">Request</p>
<pre tabindex="0">${request}</pre>
<p class="label">Answer</p>
<pre tabindex="0">${response}</pre>
<details><summary>As a command</summary><pre tabindex="0">${curlOf(exchange.request)}</pre></details>
</details>`
}
