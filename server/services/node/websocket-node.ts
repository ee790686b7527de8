import type { Socket } from 'node:net'
import { WebSocket, type RawData } from 'ws'
import { Semaphore } from '../../concurrency/semaphore.ts'
import {
  authorization,
  LOG_LANES,
  inMs,
  NodeFailure,
  RESPONSE_BYTES,
  resultOf,
  TOO_LARGE,
  type NodeConnection,
  type RpcResponse,
} from './node-connection.ts'
import { UpstreamRpcError, type UpstreamCall } from './upstream.ts'

/** A connection that is not open after this time will not be. */
const HANDSHAKE_MS = 10_000

/**
 * Many nodes hold a small answer back until the one before it is acknowledged (Nagle), and operating systems acknowledge
 * what they hear along with what they send, or tens of milliseconds later. So after this time something is sent.
 */
const ACKNOWLEDGE_MS = 1

/**
 * One node over WebSocket. Calls share a connection, and each is answered as soon as the node has its answer: nobody waits
 * for the rest of a batch. Those of one turn of the event loop leave in one piece, which costs both sides less than many
 * small ones. There is no place for a `traceparent`.
 */
export class WebSocketNode implements NodeConnection {
  readonly name: string
  onOpen: () => void = () => {}
  readonly #calls: Line
  /** Of eth_getLogs. */
  readonly #logs: Line
  readonly #logLanes = new Semaphore(LOG_LANES)

  constructor(rpcUrl: string) {
    const url = new URL(rpcUrl)
    this.name = url.host
    this.#calls = new Line(url, () => this.onOpen())
    this.#logs = new Line(url, () => this.onOpen())
  }

  call(method: string, params: readonly unknown[], timeoutMs: number): Promise<unknown> {
    if (method === 'eth_getLogs') return this.#callInLane(method, params, timeoutMs)
    return this.#calls.call(method, params, timeoutMs)
  }

  callTogether(calls: readonly UpstreamCall[], timeoutMs: number): readonly Promise<PromiseSettledResult<unknown>>[] {
    return calls.map(async ({ method, params }) => {
      const [outcome] = await Promise.allSettled([this.#calls.call(method, params, timeoutMs)])
      return outcome
    })
  }

  get isOpen(): boolean {
    return this.#calls.isOpen
  }

  async close(): Promise<void> {
    await Promise.all([this.#calls.close(), this.#logs.close()])
  }

  /** Waiting for the lane is part of the time: who has given up meanwhile is not sent. */
  #callInLane(method: string, params: readonly unknown[], timeoutMs: number): Promise<unknown> {
    const deadlineMs = performance.now() + timeoutMs
    return this.#logLanes.run(async () => {
      const restMs = Math.floor(deadlineMs - performance.now())
      if (restMs <= 0) throw new NodeFailure(`no turn within ${timeoutMs} ms`, 'unreached')
      return this.#logs.call(method, params, restMs)
    })
  }
}

/** A connection that is opened when it is needed, and anew when it has ended. */
class Line {
  readonly #url: URL
  #connection: Connection | undefined
  #lastId = 0
  readonly #onOpen: () => void
  #isClosed = false

  constructor(url: URL, onOpen: () => void) {
    this.#url = url
    this.#onOpen = onOpen
  }

  get isOpen(): boolean {
    return this.#connection?.isOpen === true
  }

  async call(method: string, params: readonly unknown[], timeoutMs: number): Promise<unknown> {
    if (this.#isClosed) throw new NodeFailure('the connection was closed', 'unreached')
    if (this.#connection === undefined || this.#connection.isOver)
      this.#connection = new Connection(this.#url, this.#onOpen)
    return this.#connection.call({ jsonrpc: '2.0', id: ++this.#lastId, method, params }, timeoutMs)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#connection?.end()
  }
}

interface Waiting {
  /** The call itself, until it is sent. */
  unsent: string | undefined
  readonly timer: NodeJS.Timeout
  resolve(result: unknown): void
  reject(error: Error): void
}

/** From the handshake until one side ends it. */
class Connection {
  readonly #socket: WebSocket
  /** What carries it, once the handshake is through. */
  #carrier: Socket | undefined
  readonly #waiting = new Map<number, Waiting>()
  readonly #closed: Promise<void>
  /** Runs when something was heard and nothing sent since. */
  #acknowledging: NodeJS.Timeout | undefined
  #error: Error | undefined
  #heardMs = -Infinity

  constructor(url: URL, onOpen: () => void) {
    this.#socket = new WebSocket(`${url.protocol}//${url.host}${url.pathname}${url.search}`, {
      headers: authorization(url),
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: RESPONSE_BYTES,
      perMessageDeflate: false,
    })
    this.#socket.on('upgrade', ({ socket }) => (this.#carrier = socket))
    this.#socket.on('unexpected-response', (_request, { statusCode = 0, headers }) => {
      const retryAfterMs = inMs(headers['retry-after'])
      this.#error = new NodeFailure(`HTTP ${statusCode}`, 'unreached', { retryAfterMs })
      this.#socket.terminate()
    })
    this.#socket.on('open', () => {
      for (const waiting of this.#waiting.values()) this.#send(waiting)
      onOpen()
    })
    this.#socket.on('message', (data) => this.#hear(data))
    this.#socket.on('error', (error) => (this.#error ??= error))
    this.#closed = new Promise((resolve) => {
      this.#socket.on('close', () => {
        this.#failAll()
        resolve()
      })
    })
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  /** Whether it takes no more calls. */
  get isOver(): boolean {
    return this.#socket.readyState >= WebSocket.CLOSING
  }

  call(call: UpstreamCall & { readonly jsonrpc: '2.0'; readonly id: number }, timeoutMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const begunMs = performance.now()
      const timer = setTimeout(() => {
        this.#waiting.delete(call.id)
        const reason = `no answer within ${timeoutMs} ms`
        reject(new NodeFailure(reason, waiting.unsent === undefined ? 'unanswered' : 'unreached'))
        // Nothing at all: perhaps there is nobody any more at the other end. The next call tells, over a new connection.
        if (this.#heardMs < begunMs) this.#socket.terminate()
      }, timeoutMs)
      const waiting: Waiting = { unsent: JSON.stringify(call), timer, resolve, reject }
      this.#waiting.set(call.id, waiting)
      if (this.#socket.readyState === WebSocket.OPEN) this.#send(waiting)
    })
  }

  async end(): Promise<void> {
    this.#socket.terminate()
    await this.#closed
  }

  #send(waiting: Waiting): void {
    if (waiting.unsent === undefined) return
    if (this.#carrier) holdForThisTurn(this.#carrier)
    this.#socket.send(waiting.unsent)
    waiting.unsent = undefined
    clearTimeout(this.#acknowledging)
    this.#acknowledging = undefined
  }

  /** By a pong that nobody has asked for, which the protocol allows and asks no answer to (RFC 6455, 5.5.3). */
  #acknowledge(): void {
    this.#acknowledging = undefined
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.pong()
  }

  #hear(data: RawData): void {
    this.#heardMs = performance.now()
    let answer: RpcResponse | null
    try {
      // Text comes in one piece by default.
      answer = JSON.parse((data as Buffer).toString()) as RpcResponse | null
    } catch (cause) {
      this.#error = new Error('a message is no JSON', { cause })
      return this.#socket.terminate()
    }
    const waiting = this.#waiting.get(answer?.id as number)
    // Too late, or something that nobody has asked for.
    if (!waiting) return
    this.#waiting.delete(answer?.id as number)
    clearTimeout(waiting.timer)
    if (this.#waiting.size > 0) this.#acknowledging ??= setTimeout(() => this.#acknowledge(), ACKNOWLEDGE_MS)
    try {
      waiting.resolve(resultOf(answer))
    } catch (error) {
      waiting.reject(error as Error)
    }
  }

  #failAll(): void {
    const { code, message = 'the connection was closed' } = (this.#error ?? {}) as NodeJS.ErrnoException
    const isTooLarge = code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
    for (const { timer, unsent, reject } of this.#waiting.values()) {
      clearTimeout(timer)
      const stage = unsent === undefined ? 'lost' : 'unreached'
      reject(
        isTooLarge
          ? new UpstreamRpcError({ code: TOO_LARGE, message: 'the response is too large' })
          : new NodeFailure(code ?? message, stage, {
              cause: this.#error,
              ...(this.#error instanceof NodeFailure && { retryAfterMs: this.#error.retryAfterMs }),
            }),
      )
    }
    this.#waiting.clear()
  }
}

/** Gathers what is written to a socket during a turn of the event loop, and sends it in one piece when the turn is over. */
export function holdForThisTurn(socket: Socket): void {
  if (socket.writableCorked > 0) return
  socket.cork()
  setImmediate(() => socket.uncork())
}
