import { Command, CommanderError } from 'commander'
import { connect } from 'node:tls'
import { packageVersion } from '../specs/index.ts'
import type { Answer } from './lib/answer.ts'
import { createHttpClient, type HttpClient } from './lib/http.ts'
import { collectHeaders, parseMilliseconds } from './lib/options.ts'
import { UsageError } from './lib/outcome.ts'
import { redactUrl } from './lib/redact.ts'
import { visibleControls } from './lib/report/escape.ts'
import { painter, type TextStream, wantsColour } from './lib/report/terminal.ts'
import { createTargetClock } from './lib/target-clock.ts'
import { endpointsOf, normaliseTarget, parseHttpUrl } from './lib/target.ts'
import { isLocal, unusedProxy } from './lib/unused-proxy.ts'
import { ourTimeMs } from './lib/world.ts'

interface Streams {
  readonly stdout: TextStream
  readonly stderr: TextStream
}

interface Flags {
  readonly rpcUrl?: string
  readonly header: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

const help = `
Examples:
  touchstone doctor http://127.0.0.1:3000
  touchstone doctor https://relay.example/api --rpc-url https://node.example

Exit codes:
  0  nothing stands in the way of a run
  1  something does
  2  wrong usage
`

const signs = { well: ['green', '✓'], note: ['yellow', '!'], wrong: ['red', '✗'] } as const

function createCommand({ stdout, stderr }: Streams): Command {
  return new Command('touchstone doctor')
    .description(
      'Looks at what a run of check depends on: whether the target answers, TLS, base path, CORS, clock and chain. Spends nothing.',
    )
    .argument('<relay-url>', 'the base URL of POST /execute and POST /quota')
    .option('--rpc-url <url>', "a node of the target's chain, to compare with")
    .option(
      '--header <name: value>',
      'a header for each request; its value is not shown; repeatable',
      collectHeaders,
      {},
    )
    .option('--timeout-ms <ms>', 'how long to wait for each answer', parseMilliseconds, 3_000)
    .version(packageVersion())
    .addHelpText('after', help)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
    })
}

/**
 * The command `doctor`.
 *
 * @param argv the arguments behind the word: the URL that `check` would be given
 * @returns the exit code: 0 nothing stands in the way of a run, 1 something does, 2 wrong usage
 */
export async function run(argv: readonly string[], streams: Streams = process): Promise<number> {
  const command = createCommand(streams)
  let findings: readonly Finding[]
  try {
    command.parse([...argv], { from: 'user' })
    const { rpcUrl, header, timeoutMs } = command.opts<Flags>()
    const url = command.args[0] ?? ''
    findings = await diagnose({ url, headers: header, timeoutMs, ...(rpcUrl === undefined ? {} : { rpcUrl }) })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof UsageError)) throw error
    streams.stderr.write(`touchstone doctor: ${error.message}\n`)
    return 2
  }
  const paint = painter(wantsColour(streams.stdout, process.env))
  for (const { about, state, text } of findings) {
    const [colour, sign] = signs[state]
    streams.stdout.write(`${paint(colour, sign)} ${about.padEnd(10)} ${visibleControls(text)}\n`)
  }
  return findings.some(({ state }) => state === 'wrong') ? 1 : 0
}

/** What `doctor` found out about one thing that a run depends on. */
interface Finding {
  readonly about: 'reachable' | 'tls' | 'base path' | 'cors' | 'clock' | 'chain'
  /**
   * `wrong`: a run could not judge, or would judge another service. `note`: a run can judge, and the user should
   * know this.
   */
  readonly state: 'well' | 'note' | 'wrong'
  readonly text: string
}

interface DiagnoseOptions {
  readonly url: string
  /** A node of the target's chain. */
  readonly rpcUrl?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

const CHAIN_ID = '{"id":1,"jsonrpc":"2.0","method":"eth_chainId","params":[]}'
/** Paths at which services are often found when the given base URL has none. */
const USUAL_PATHS = ['', '/api', '/relayer', '/relay', '/v1', '/api/v1']
const DAY_MS = 86_400_000
const SOON_DAYS = 14
/** How far the target's clock may be off in the narrower edition, in seconds: half of the window of `/quota`. */
const WINDOW_SECONDS = 5

const found = (about: Finding['about'], state: Finding['state'], text: string): Finding => ({ about, state, text })

const post = (http: HttpClient, url: string, body: string) =>
  http.send({ url, method: 'POST', headers: { 'content-type': 'application/json' }, body })

const isMissing = ({ status }: Answer) => status === 404 || status === 405

function reachable(url: string, answer: Answer): Finding {
  const { failure, status, durationMs } = answer
  if (failure) return found('reachable', 'wrong', `${redactUrl(url)}: ${failure.message}${unusedProxy(url)}`)
  return found('reachable', 'well', `${redactUrl(url)} answers ${status} in ${durationMs} ms`)
}

async function tls(base: URL, timeoutMs: number): Promise<Finding> {
  if (base.protocol === 'http:') {
    const text = 'plain HTTP: others can read and change signatures and quotas on the way'
    return isLocal(base) ? found('tls', 'well', 'not needed on this host') : found('tls', 'note', text)
  }
  const validTo = await new Promise<string | undefined>((resolve) => {
    const socket = connect({
      host: base.hostname.replace(/^\[|\]$/g, ''),
      port: Number(base.port || 443),
      servername: base.hostname,
      timeout: timeoutMs,
    })
    const end = (text?: string) => {
      socket.destroy()
      resolve(text)
    }
    socket.once('secureConnect', () => end(socket.getPeerCertificate().valid_to))
    socket.once('error', () => end())
    socket.once('timeout', () => end())
  })
  if (validTo === undefined) return found('tls', 'wrong', 'no secure connection: see above')
  const days = Math.floor((Date.parse(validTo) - Date.now()) / DAY_MS)
  return found('tls', days < SOON_DAYS ? 'note' : 'well', `the certificate is valid for ${days} more days`)
}

/** Another base URL on the same host at which both endpoints answer; undefined: none was found. */
async function betterBase(http: HttpClient, base: URL): Promise<string | undefined> {
  const trimmed = base.pathname.replace(/\/(execute|quota|api\/eth-rpc|eth-rpc)\/?$/, '')
  const paths = new Set([trimmed, ...USUAL_PATHS].map((path) => path.replace(/\/$/, '')))
  const tried = [...paths].map(async (path) => {
    const url = `${base.origin}${path}`
    const answers = await Promise.all([post(http, `${url}/quota`, '{}'), post(http, `${url}/api/eth-rpc`, CHAIN_ID)])
    return answers.every((answer) => !answer.failure && !isMissing(answer)) ? url : undefined
  })
  return (await Promise.all(tried)).find((url) => url !== undefined)
}

async function basePath(http: HttpClient, base: URL, quota: Answer, rpc: Answer): Promise<Finding> {
  if ('jsonrpc' in Object(quota.json)) {
    const text = 'POST /quota is answered like JSON-RPC: the URL is a node of the chain, not a relay'
    return found('base path', 'wrong', text)
  }
  const missing = [isMissing(quota) && '/quota', isMissing(rpc) && '/api/eth-rpc'].filter(Boolean)
  if (missing.length === 0) return found('base path', 'well', 'POST /quota and POST /api/eth-rpc are there')
  const better = await betterBase(http, base)
  const hint = better === undefined ? '' : `; did you mean ${better}?`
  const text = `nothing answers at POST ${missing.join(' and POST ')}${hint}`
  return found('base path', missing.length === 2 || better !== undefined ? 'wrong' : 'note', text)
}

async function cors(http: HttpClient, url: string): Promise<Finding> {
  const { headers } = await http.send({
    url,
    method: 'OPTIONS',
    headers: {
      origin: 'https://dapp.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    },
  })
  const allowed = headers['access-control-allow-origin']
  if (allowed === undefined) return found('cors', 'note', 'browsers let no page of another origin call this service')
  return found('cors', 'well', `browsers let pages of other origins call this service (${allowed})`)
}

function clockOf(answer: Answer, sentAtMs: number): Finding {
  const clock = createTargetClock()
  clock.see(answer.headers['date'], sentAtMs, sentAtMs + answer.durationMs)
  if (clock.measuredBy === null)
    return found('clock', 'note', 'no Date header: a run reads the time of the target from /quota')
  const seconds = Math.round(clock.offsetSeconds)
  if (Math.abs(seconds) <= 1) return found('clock', 'well', 'as here')
  const text = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} this machine`
  return found('clock', Math.abs(seconds) > WINDOW_SECONDS ? 'wrong' : 'note', text)
}

const chainIdIn = ({ json }: Answer): bigint | undefined => {
  const { result } = Object(json) as { result?: unknown }
  if (typeof result === 'number' && Number.isInteger(result)) return BigInt(result)
  return typeof result === 'string' && /^0x[0-9a-f]+$/i.test(result) ? BigInt(result) : undefined
}

async function chain(http: HttpClient, rpc: Answer, rpcUrl: string | undefined): Promise<Finding> {
  const told = chainIdIn(rpc)
  if (told === undefined) return found('chain', 'note', 'eth_chainId tells no chain id')
  if (rpcUrl === undefined) return found('chain', 'well', `${told}`)
  const own = chainIdIn(await post(http, rpcUrl, CHAIN_ID))
  if (own === undefined) return found('chain', 'wrong', `${told}, but ${redactUrl(rpcUrl)} tells no chain id`)
  return own === told
    ? found('chain', 'well', `${told}, as ${redactUrl(rpcUrl)} says`)
    : found('chain', 'wrong', `${told}, but ${redactUrl(rpcUrl)} is of chain ${own}`)
}

/**
 * Looks at everything that a run of `check` depends on. No request of this function can spend.
 *
 * @throws UsageError when a URL is none
 */
async function diagnose({ url, rpcUrl, headers, timeoutMs }: DiagnoseOptions): Promise<Finding[]> {
  const target = normaliseTarget({ relayUrl: url, ethRpcUrl: url })
  if (rpcUrl !== undefined) parseHttpUrl(rpcUrl)
  const base = new URL(target.relayUrl ?? url)
  const { quota, rpc } = endpointsOf(target)
  const http = createHttpClient(timeoutMs, headers)
  try {
    const sentAtMs = ourTimeMs()
    const [quotaAnswer, rpcAnswer, tlsFinding, corsFinding] = await Promise.all([
      post(http, quota.url, '{}'),
      post(http, rpc.url, CHAIN_ID),
      tls(base, timeoutMs),
      cors(http, rpc.url),
    ])
    const first = quotaAnswer.failure ? rpcAnswer : quotaAnswer
    if (first.failure) return [reachable(quota.url, first)]
    return [
      reachable(first === quotaAnswer ? quota.url : rpc.url, first),
      tlsFinding,
      await basePath(http, base, quotaAnswer, rpcAnswer),
      corsFinding,
      clockOf(first, sentAtMs),
      await chain(http, rpcAnswer, rpcUrl),
    ]
  } finally {
    await http.close()
  }
}
