import type { CheckError, CheckResult, ClauseResult, Exchange } from '../../report-types.ts'
import { curlOf, exchangeText } from '../exchange-text.ts'
import { indentJson, seconds, shorten } from '../layout.ts'
import { shownStatus, statusSign } from '../words.ts'
import { filterData } from './filters.ts'
import { Markup, markup } from './markup.ts'

const breakHere = new Markup('<wbr>')

/** The id of a clause. A narrow column may break it after a dot or a hyphen. */
export function clauseName(id: string): Markup {
  return markup`${id.split(/(?<=[.-])/).map((part) => markup`${part}${breakHere}`)}`
}

/** Long enough for any answer but pages of logs, whose entries are alike. */
const bodyLimit = 6000

function laidOut(exchange: Exchange): Exchange {
  const { request, response } = exchange
  return {
    ...exchange,
    request: request.body === undefined ? request : { ...request, body: indentJson(request.body) },
    response: response === null ? null : { ...response, body: indentJson(response.body) },
  }
}

/** Verb and path, after the method that the body names: `eth_getLogs, POST /api/eth-rpc`, or `POST /quota`. */
function requestName({ method: verb, url, body }: Exchange['request']): string {
  const method = /"method"\s*:\s*"([\w-]{1,60})"/.exec(body ?? '')?.[1]
  const path = url.replace(/^\w+:\/\/[^/?#]*/, '').replace(/[?#].*$/, '') || '/'
  return `${method === undefined ? '' : `${method}, `}${verb} ${path}`
}

/**
 * A request and its answer, folded.
 *
 * @param showsFault whether the exchange shows why the check failed; it is then unfolded
 */
export function exchangeMarkup(exchange: Exchange, index: number, showsFault = false): Markup {
  const { request, response } = exchangeText(laidOut(exchange), { bodyLimit, headers: true })
  const outcome =
    exchange.response === null ? (exchange.failure?.kind ?? 'no answer') : `HTTP ${exchange.response.status}`
  return markup`<details class="exchange"${showsFault ? markup` open` : undefined}>
<summary>Request ${index + 1}: ${requestName(exchange.request)} <span class="muted">→ ${outcome}, ${seconds(exchange.durationMs)}</span></summary>
<p class="label">Request</p>
<pre tabindex="0">${request}</pre>
<p class="label">Answer</p>
<pre tabindex="0">${response}</pre>
<details><summary>As a command</summary><pre tabindex="0">${curlOf(exchange.request)}</pre></details>
</details>`
}

const messageLimit = 4000

/** The expected and the actual value. */
export function valuesMarkup(error: CheckError): Markup | undefined {
  if (error.expected === undefined && error.actual === undefined) return undefined
  return markup`<dl class="values">
<dt>expected</dt><dd class="message"><code>${shorten(error.expected ?? 'not said', messageLimit)}</code></dd>
<dt>actual</dt><dd class="message"><code>${shorten(error.actual ?? 'not said', messageLimit)}</code></dd>
</dl>`
}

/** The exchanges of a check. The one that shows the fault comes first, unfolded; the others follow in their order. */
function exchangesMarkup({ exchanges, error }: CheckResult): Markup {
  const shows = error?.exchange
  const order: [number, Exchange][] = [...exchanges.entries()]
  if (shows !== undefined) order.sort(([a], [b]) => Number(b === shows) - Number(a === shows) || a - b)
  return markup`${order.map(([index, exchange]) => exchangeMarkup(exchange, index, index === shows))}`
}

function checkMarkup(check: CheckResult): Markup {
  const open = check.status === 'failed' ? markup` open` : undefined
  const { error, reason, observations = [] } = check
  return markup`<details class="check"${open}>
<summary><span class="status ${check.status}">${statusSign[check.status]} ${check.status}</span> ${check.title} <span class="muted">${seconds(check.durationMs)}</span></summary>
${error && markup`<p class="message">${shorten(error.message, messageLimit)}</p>`}${error && valuesMarkup(error)}${
    reason === undefined ? undefined : markup`<p class="message">${shorten(reason, messageLimit)}</p>`
  }${
    observations.length === 0
      ? undefined
      : markup`<ul>${observations.map((text) => markup`<li class="message">${shorten(text, messageLimit)}</li>`)}</ul>`
  }
${check.exchanges.length === 0 ? markup`<p class="muted">No request was made.</p>` : exchangesMarkup(check)}
</details>`
}

/**
 * A clause on one line that unfolds to its sentence and its checks. Failed checks are unfolded.
 *
 * @param href the page that says what other relays do; absent: there is none
 */
export function clauseArticle(clause: ClauseResult, href?: string): Markup {
  const status = shownStatus(clause)
  const { known } = clause
  return markup`<article aria-labelledby="${clause.id}" ${filterData({ ...clause, status })}>
<details class="clause">
<summary><span class="status ${status}">${statusSign[status]} ${status}</span> <h4 id="${clause.id}" tabindex="-1" class="id">${clauseName(clause.id)}</h4> <span class="muted">${clause.level}</span></summary>
<p>${clause.text} <span class="muted">Section ${clause.section}.</span>${href === undefined ? undefined : markup` <a href="${href}">All relays</a>`}</p>
${
  known &&
  markup`<p class="known">Known: ${known.reason}${
    known.link?.startsWith('https://') ? markup` (<a href="${known.link}" rel="noreferrer">link</a>)` : undefined
  }</p>`
}${clause.tests.length === 0 ? markup`<p class="muted">No check of this clause was made.</p>` : clause.tests.map(checkMarkup)}
</details>
</article>
`
}
