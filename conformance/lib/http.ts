import { unescape } from 'node:querystring'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib'
import { type Dispatcher, request } from 'undici'
import { packageVersion } from '../../specs/index.ts'
import type { Answer } from './answer.ts'
import { createConnections } from './connections.ts'
import { withDeadline } from './deadline.ts'
import { redactBody, redactHeaders, redactUrl } from './redact.ts'
import type { Exchange, ExchangeFailure, RecordedResponse } from './report-types.ts'
import { ourTimeMs, outside } from './world.ts'

/** No answer of the documents needs more: 1000 log entries are about 1 MB. */
const bodyCapBytes = 8 * 1024 * 1024
/** The report keeps this much of a body. */
const recordedCapChars = 20_000

export interface HttpRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /**
   * Uses a connection of its own and never sends again: for requests that spend. The client sends other requests a
   * second time when the target closes their connection.
   */
  readonly once?: boolean
}

export interface HttpClient {
  /** Sends the request. Never throws for what the target does: returns an answer of any kind, or `failure`. */
  send(request: HttpRequest): Promise<Answer>
  readonly traffic: { requests: number; timeouts: number; unanswered: number }
  readonly census: AnswerCensus
  close(): Promise<void>
}

/** Some services refuse a client that does not name itself (RFC 9110, 10.1.5). */
const userAgent = `touchstone/${packageVersion()}`

/** The user and the password of a URL as a header (RFC 7617): undici leaves them out. */
export function authorizationOf(url: string): { readonly authorization?: string } {
  const { username, password } = new URL(url)
  if (username === '' && password === '') return {}
  const text = `${unescape(username)}:${unescape(password)}`
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` }
}

function failureOf(error: unknown, timeoutMs: number): ExchangeFailure {
  const { name, code, message } = error as { name?: string; code?: string; message?: string }
  const text = code ?? message ?? String(error)
  if (name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT') {
    return { kind: 'timeout', message: `no answer within ${timeoutMs} ms` }
  }
  if (code === 'ECONNREFUSED') return { kind: 'refused', message: 'the connection was refused' }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return { kind: 'dns', message: `the host was not found (${text})` }
  if (/TLS|SSL|CERT|SELF_SIGNED|ALTNAME/.test(text)) return { kind: 'tls', message: `no secure connection (${text})` }
  if (/^(?:Z_|ZSTD_|ERR__ERROR|ERR_BROTLI)/.test(code ?? '')) {
    return { kind: 'other', message: `the body is not in the content coding that its header names (${text})` }
  }
  if (code?.startsWith('HPE_')) return { kind: 'other', message: `the answer is no HTTP (${text})` }
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE') {
    return { kind: 'closed', message: `the connection was closed without a whole answer (${text})` }
  }
  return { kind: 'other', message: `no answer (${text})` }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Clients ignore a byte order mark before JSON (RFC 8259, 8.1), as fetch does. */
function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '')
}

const limit = { maxOutputLength: bodyCapBytes }
const [ungzip, undeflate, undeflateRaw] = [promisify(gunzip), promisify(inflate), promisify(inflateRaw)]
const [unbrotli, unzstd] = [promisify(brotliDecompress), promisify(zstdDecompress)]
const decoders: Readonly<Record<string, (body: Buffer) => Promise<Buffer>>> = {
  gzip: (body) => ungzip(body, limit),
  'x-gzip': (body) => ungzip(body, limit),
  // Some servers leave out the wrapper (RFC 9110, 8.4.1.2), and browsers read both.
  deflate: (body) => undeflate(body, limit).catch(() => undeflateRaw(body, limit)),
  br: (body) => unbrotli(body, limit),
  zstd: (body) => unzstd(body, limit),
}

/** Decodes the content codings in reverse order. A body in an unknown coding stays as it is. */
async function decode(body: Buffer, contentEncoding: string): Promise<Buffer> {
  let decoded = body
  if (body.length === 0) return body
  for (const name of contentEncoding.toLowerCase().split(',').reverse()) {
    decoded = (await decoders[name.trim()]?.(decoded)) ?? decoded
  }
  return decoded
}

/** An answer with its known content codings decoded. */
interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** What became of a request. */
interface Attempted {
  readonly received?: Received
  readonly failure?: ExchangeFailure
}

/** A request as the record of a run names it, without credentials. */
function questionOf({ url, method, headers, body }: HttpRequest): string {
  const isJson = Object.keys(headers).length === 1 && headers['content-type'] === 'application/json'
  const start = `${method} ${redactUrl(url)}${isJson ? '' : ` ${JSON.stringify(redactHeaders(headers))}`}`
  return body === undefined
    ? start
    : `${start}\n${typeof body === 'string' ? body : Buffer.from(body).toString('latin1')}`
}

async function receive({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Received> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > bodyCapBytes) break
  }
  const coding = headers['content-encoding']
  const content = await decode(Buffer.concat(chunks), Array.isArray(coding) ? coding.join() : (coding ?? ''))
  const flat = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ])
  return {
    status: statusCode,
    headers: Object.fromEntries(flat) as Record<string, string>,
    text: content.toString('utf8'),
  }
}

/** What the report keeps of an exchange: no signatures and no credentials. */
export function recordOf(
  sent: HttpRequest,
  hidden: Readonly<Record<string, string>>,
  received: Received | undefined,
): Pick<Exchange, 'request' | 'response'> {
  const body =
    sent.body === undefined || typeof sent.body === 'string' ? sent.body : Buffer.from(sent.body).toString('utf8')
  const response: RecordedResponse | null = received
    ? {
        status: received.status,
        headers: redactHeaders(received.headers),
        body: redactBody(received.text.slice(0, recordedCapChars)),
        ...(received.text.length > recordedCapChars ? { truncated: true } : {}),
      }
    : null
  const request = {
    method: sent.method,
    url: redactUrl(sent.url),
    headers: { ...hidden, ...redactHeaders(sent.headers) },
    ...(body === undefined ? {} : { body: redactBody(body.slice(0, recordedCapChars)) }),
  }
  return { request, response }
}

/**
 * Creates the HTTP client of a run. It follows no redirects, cuts long bodies, and sets one deadline for the whole
 * exchange. It asks for no content coding, so a target may use any (RFC 9110, 12.5.3), and the client decodes the
 * known ones.
 *
 * @param extraHeaders sent with each request that does not set them itself; the record shows their names and not
 * their values
 */
export function createHttpClient(timeoutMs: number, extraHeaders: Readonly<Record<string, string>> = {}): HttpClient {
  const hidden = Object.fromEntries(Object.keys(extraHeaders).map((name) => [name, '(redacted)']))
  const connections = createConnections(timeoutMs)
  const traffic = { requests: 0, timeouts: 0, unanswered: 0 }
  const census = createAnswerCensus()

  async function exchange(sent: HttpRequest, dispatcher: Dispatcher): Promise<Received> {
    return withDeadline(timeoutMs, async (signal) => {
      const response = await request(sent.url, {
        method: sent.method as 'POST',
        headers: { 'user-agent': userAgent, ...authorizationOf(sent.url), ...extraHeaders, ...sent.headers },
        body: sent.body ?? null,
        dispatcher,
        signal,
      })
      return receive(response)
    })
  }

  /** Sends a request, and sends it once again when its connection was closed. */
  async function exchangeOnceOrTwice(sent: HttpRequest): Promise<Received> {
    const { origin } = new URL(sent.url)
    const over = (dispatcher: Dispatcher) => exchange(sent, dispatcher)
    if (sent.once) return connections.alone(origin, over)
    try {
      return await connections.shared(over)
    } catch (error) {
      if (failureOf(error, timeoutMs).kind !== 'closed') throw error
      return connections.last(origin, over).catch((again: unknown) => {
        // A refused second attempt says that the first one ended the target, so the error of the first is thrown.
        throw failureOf(again, timeoutMs).kind === 'refused' ? error : again
      })
    }
  }

  /** The answer, or why there is none. */
  async function attempt(sent: HttpRequest): Promise<Attempted> {
    try {
      return { received: await exchangeOnceOrTwice(sent) }
    } catch (error) {
      return { failure: failureOf(error, timeoutMs) }
    }
  }

  return {
    traffic,
    census,
    async send(sent) {
      traffic.requests++
      const startMs = ourTimeMs()
      const { received, failure } = await outside(questionOf(sent), () => attempt(sent))
      if (failure) traffic.unanswered++
      if (failure?.kind === 'timeout') traffic.timeouts++
      const durationMs = Math.round(ourTimeMs() - startMs)
      const recorded: Exchange = { ...recordOf(sent, hidden, received), ...(failure ? { failure } : {}), durationMs }
      census.see(recorded)
      const { status, headers = {} } = received ?? {}
      const text = withoutMark(received?.text ?? '')
      return { status, headers, text, json: parse(text), failure, durationMs, exchange: recorded }
    },
    close: connections.close,
  }
}

/** With fewer answers, a target may answer valid and broken requests alike by chance. */
const fewest = 2
/** After this many answers that are all alike, the run ends. */
const enough = 10
const shownChars = 60

interface Kind {
  /** Answers of one kind have the same key. */
  readonly key: string
  /** Says what all answers have in common, and what the user should look at. */
  readonly sentence: string
}

function shown(body: string): string {
  const text = body.replace(/\s+/g, ' ').trim()
  return text.length > shownChars ? `${text.slice(0, shownChars)}…` : text
}

/** The kind of an answer: what it has in common with the answers of a wrong URL, a proxy or an empty server. */
function kindOf({ response, failure }: Exchange): Kind {
  if (!response) return { key: failure?.kind ?? 'no answer', sentence: 'no request is answered' }
  const { status, headers, body } = response
  if (status >= 300 && status < 400) {
    const to = headers['location'] === undefined ? '' : ` to ${headers['location']}`
    return {
      key: `${status}`,
      sentence: `every request is redirected (HTTP ${status}${to}): is it another URL, or https instead of http?`,
    }
  }
  if (status === 401 || status === 403 || status === 407) {
    return { key: `${status}`, sentence: `every answer is HTTP ${status}: does the target want a credential?` }
  }
  if (status >= 500) {
    return { key: `${status}`, sentence: `every answer is HTTP ${status}: is the service behind the URL running?` }
  }
  if (status >= 400) {
    return { key: `${status}`, sentence: `every answer is HTTP ${status}: is the base URL right, with its prefix?` }
  }
  return {
    key: `${status} ${body}`,
    sentence: `every answer is the same, HTTP ${status} ${shown(body) || 'without a body'}: is the service at this URL?`,
  }
}

/** Collects the answers of a run and finds out whether the target answers everything alike. */
interface AnswerCensus {
  see(exchange: Exchange): void
  /**
   * One sentence on what all answers have in common; undefined when two answers differ. A target that answers valid
   * and broken requests alike is no relay service, so no clause can be judged.
   */
  uniform(): string | undefined
  /** Whether the answers are alike and many enough to end the run. */
  isHopeless(): boolean
}

function createAnswerCensus(): AnswerCensus {
  let first: Kind | undefined
  let count = 0
  let isUniform = true
  return {
    see(exchange) {
      const kind = kindOf(exchange)
      first ??= kind
      count++
      if (kind.key !== first.key) isUniform = false
    },
    uniform: () => (isUniform && count >= fewest ? first?.sentence : undefined),
    isHopeless: () => isUniform && count >= enough,
  }
}
