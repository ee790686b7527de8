import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { Agent, buildConnector, Client, type Dispatcher } from 'undici'
import { createQueue } from './queue.ts'

/**
 * A connection is kept this long after an answer: a target that serves one at a time lets the next one wait meanwhile. Then it
 * is closed, also where the target does not close its own end.
 */
const keptMs = 500

/** Sends one request over the connections of a dispatcher, and reads its whole answer. */
type Exchange<T> = (dispatcher: Dispatcher) => Promise<T>

/** The connections of a run. A target, or what stands before it, may take few of them and close those beyond. */
export interface Connections {
  /** Over a connection that is kept open, or over a further one. */
  shared<T>(exchange: Exchange<T>): Promise<T>
  /**
   * Over a connection of its own, which nothing was sent over before: one that was kept may be about to be closed. Those that
   * are kept are let go of first.
   */
  alone<T>(origin: string, exchange: Exchange<T>): Promise<T>
  /** The same, after all others have ended that were under way. */
  last<T>(origin: string, exchange: Exchange<T>): Promise<T>
  close(): Promise<void>
}

/** Closes a connection, and waits until the target has closed it too, so that it no longer counts it. */
async function part(socket: Socket): Promise<void> {
  const closed = once(socket, 'close')
  socket.end()
  await closed.catch(() => undefined)
}

/** A dispatcher and the connections that it has open. */
interface Opened {
  readonly dispatcher: Dispatcher
  readonly sockets: ReadonlySet<Socket>
}

/** @param timeoutMs how long to wait for a connection */
export function createConnections(timeoutMs: number): Connections {
  const connect = buildConnector({ timeout: timeoutMs })
  const underWay = new Set<Promise<unknown>>()
  const queue = createQueue()
  let kept = open((options) => new Agent(options))
  let sharing = 0
  let parted: Promise<unknown> = Promise.resolve()

  function open(create: (options: Client.Options) => Dispatcher): Opened {
    const sockets = new Set<Socket>()
    const connectAndNote: typeof connect = (options, connected) =>
      connect(options, (...result) => {
        const [, socket] = result
        if (socket) sockets.add(socket.once('close', () => sockets.delete(socket)))
        connected(...result)
      })
    const times = { keepAliveTimeout: keptMs, keepAliveMaxTimeout: keptMs, headersTimeout: 0, bodyTimeout: 0 }
    return { dispatcher: create({ connect: connectAndNote, ...times }), sockets }
  }

  /** Lets go of connections. Others wait until the target has noticed. */
  function leave({ dispatcher, sockets }: Opened): void {
    parted = Promise.all([parted, ...[...sockets].map(part)]).then(() => dispatcher.destroy())
  }

  function track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => underWay.delete(tracked))
    underWay.add(tracked)
    return tracked
  }

  async function share<T>(exchange: Exchange<T>): Promise<T> {
    sharing++
    try {
      await parted
      return await exchange(kept.dispatcher)
    } finally {
      // The agent takes a connection for free one turn of the event loop after the answer, and opens another one until then.
      await setImmediate()
      sharing--
    }
  }

  async function alone<T>(origin: string, exchange: Exchange<T>): Promise<T> {
    if (sharing === 0 && kept.sockets.size > 0) {
      leave(kept)
      kept = open((options) => new Agent(options))
    }
    await parted
    const own = open((options) => new Client(origin, options))
    return track(exchange(own.dispatcher)).finally(() => leave(own))
  }

  return {
    shared: (exchange) => track(share(exchange)),
    alone,
    async last(origin, exchange) {
      const leaveQueue = await queue.enter()
      try {
        await Promise.allSettled(underWay)
        return await alone(origin, exchange)
      } finally {
        leaveQueue()
      }
    },
    close: () => kept.dispatcher.destroy(),
  }
}
