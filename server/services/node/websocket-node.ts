import type { Socket } from 'node:net'
import { WebSocket, type RawData } from 'ws'
import { Semaphore } from '../../concurrency/semaphore.ts'
import {
  authorization,
  LOG_CALLS_AT_A_TIME,
  inMs,
  NodeFailure,
  RESPONSE_BYTES,
  resultOf,
  TOO_LARGE,
  type NodeConnection,
  type RpcResponse,
} from './node-connection.ts'
import { UpstreamRpcError, type UpstreamCall } from './upstream.ts'

/** The server gives up a connection that is not open after this time. */
const HANDSHAKE_MS = 10_000

/**
 * Many nodes hold a small answer back until the one before it is acknowledged (Nagle's algorithm). Operating systems
 * acknowledge with the next data that they send, or tens of milliseconds later. So something is sent after this time.
 */
const ACKNOWLEDGE_MS = 1

/**
 * One node over WebSocket. Calls share a connection, and each is answered as soon as the node has its answer. The calls of
 * one turn of the event loop are written in one piece, which costs both sides less than many small ones. A message has no
 * headers, so no `traceparent` is sent.
 */
export class WebSocketNode implements NodeConnection {
  readonly name: string
  onOpen: () => void = () => {}
  onHead: (() => void) | undefined
  readonly #calls: Line
  /** Of eth_getLogs. */
  readonly #logs: Line
  readonly #logCalls = new Semaphore(LOG_CALLS_AT_A_TIME)

  constructor(rpcUrl: string) {
    const url = new URL(rpcUrl)
    this.name = url.host
    const onOpen = () => this.onOpen()
    this.#calls = new Line(url, () => ({ onOpen, onHead: this.onHead }))
    this.#logs = new Line(url, () => ({ onOpen }))
  }

  call(method: string, params: readonly unknown[], timeoutMs: number): Promise<unknown> {
    if (method === 'eth_getLogs') return this.#callInTurn(method, params, timeoutMs)
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

  /** The time in the queue is part of the timeout. A call that has timed out in the queue is not sent. */
  #callInTurn(method: string, params: readonly unknown[], timeoutMs: number): Promise<unknown> {
    const deadlineMs = performance.now() + timeoutMs
    return this.#logCalls.run(async () => {
      const restMs = Math.floor(deadlineMs - performance.now())
      if (restMs <= 0) throw new NodeFailure(`no turn within ${timeoutMs} ms`, 'waiting')
      return this.#logs.call(method, params, restMs)
    })
  }
}

/** The call that asks for heads has this id, and no other call has. */
const HEADS_ID = 0

interface Listener {
  onOpen(): void
  readonly onHead?: (() => void) | undefined
}

/** Opens a connection when it is needed, and a new one when the last has ended. */
class Line {
  readonly #url: URL
  #connection: Connection | undefined
  #lastId = HEADS_ID
  readonly #listener: () => Listener
  #isClosed = false

  constructor(url: URL, listener: () => Listener) {
    this.#url = url
    this.#listener = listener
  }

  get isOpen(): boolean {
    return this.#connection?.isOpen === true
  }

  async call(method: string, params: readonly unknown[], timeoutMs: number): Promise<unknown> {
    if (this.#isClosed) throw new NodeFailure('the connection was closed', 'unreached')
    if (this.#connection === undefined || this.#connection.isOver)
      this.#connection = new Connection(this.#url, this.#listener())
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

/**
 * Asks to be told of each new head. The answer is not waited for: a node that refuses tells of none, as a node over HTTP
 * does.
 */
const SUBSCRIBE = JSON.stringify({ jsonrpc: '2.0', id: HEADS_ID, method: 'eth_subscribe', params: ['newHeads'] })

/** One connection, from the handshake until one side closes it. */
class Connection {
  readonly #socket: WebSocket
  readonly #onHead: (() => void) | undefined
  /** The TCP socket below, once the handshake is done. */
  #carrier: Socket | undefined
  readonly #waiting = new Map<number, Waiting>()
  readonly #closed: Promise<void>
  /** Set while something was received and nothing was sent since. */
  #acknowledging: NodeJS.Timeout | undefined
  #error: Error | undefined
  #heardMs = -Infinity

  constructor(url: URL, { onOpen, onHead }: Listener) {
    this.#onHead = onHead
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
      if (onHead !== undefined) this.#socket.send(SUBSCRIBE)
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

  /** Whether the connection takes no more calls. */
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
        // The node has sent nothing at all since: it may be gone. The next call opens a new connection, which will show
        // it.
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

  /** Sends a pong without a ping: the protocol allows it, and no answer is due (RFC 6455, 5.5.3). */
  #acknowledge(): void {
    this.#acknowledging = undefined
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.pong()
  }

  #hear(data: RawData): void {
    this.#heardMs = performance.now()
    let answer: (RpcResponse & { readonly method?: unknown }) | null
    try {
      // ws hands over a text message in one piece by default.
      answer = JSON.parse((data as Buffer).toString()) as typeof answer
    } catch (cause) {
      this.#error = new Error('a message is no JSON', { cause })
      return this.#socket.terminate()
    }
    if (answer?.method === 'eth_subscription') return this.#onHead?.()
    const waiting = this.#waiting.get(answer?.id as number)
    // The call has timed out, or the node answers what was not asked.
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

/**
 * Gathers what is written to a socket in a turn of the event loop, and sends it in one piece at the end of the turn.
 */
export function holdForThisTurn(socket: Socket): void {
  if (socket.writableCorked > 0) return
  socket.cork()
  setImmediate(() => socket.uncork())
}
