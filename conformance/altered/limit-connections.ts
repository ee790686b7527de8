import type { Server, Socket } from 'node:net'
import { createQueue } from '../lib/queue.ts'
import type { ListenEnvironment } from './define.ts'

/** Lets the connections of a server wait until those before them are closed. */
function serveInTurn(server: Server): void {
  const queue = createQueue()
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    void queue.enter().then((leave) => {
      socket.once('close', leave)
      for (const serveSocket of listeners) serveSocket.call(server, socket)
    })
  })
}

/** Closes connections beyond so many in a time, as firewalls do. */
function limitNewConnections(
  server: Server,
  { count, windowMs }: NonNullable<ListenEnvironment['newConnections']>,
): void {
  let begunMs = 0
  let opened = 0
  server.prependListener('connection', (socket: Socket) => {
    const nowMs = Date.now()
    if (nowMs - begunMs >= windowMs) {
      begunMs = nowMs
      opened = 0
    }
    if (++opened > count) socket.destroy()
  })
}

/** Lets a server take connections as its environment says. */
export function limitConnections(server: Server, { connections, inTurn, newConnections }: ListenEnvironment): void {
  if (connections !== undefined) server.maxConnections = connections
  if (inTurn) serveInTurn(server)
  if (newConnections) limitNewConnections(server, newConnections)
}
