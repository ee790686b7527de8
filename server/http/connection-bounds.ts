import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Config } from '../../specs/index.ts'
import { addressOf } from './rate-limit.ts'

/**
 * The most bytes that are kept in memory for one address: of bodies that have not come to their end, and of answers that it does
 * not read. 190 of the largest pages of logs.
 */
const HELD_BYTES_PER_ADDRESS = 128 * 1024 * 1024
/** The same for all addresses together, and behind a proxy, where all connections come from the proxy's address. */
const HELD_BYTES = 512 * 1024 * 1024
/** How often the server looks how much is kept for its connections, in milliseconds. */
const LOOK_MS = 500

interface Bounds extends Pick<Config['limits'], 'connections' | 'connectionsPerAddress'> {
  /** All connections come from the proxy's address then. */
  readonly isBehindProxy: boolean
}

/**
 * Bounds what connections cost a server: how many there are, of all callers and of one address, and what is kept in memory
 * for them.
 *
 * @param sockets the open ones, the oldest first
 */
export function boundConnections(server: Server, sockets: ReadonlySet<Socket>, bounds: Bounds): void {
  const { connections, connectionsPerAddress, isBehindProxy } = bounds
  server.maxConnections = connections
  if (!isBehindProxy) boundConnectionsPerAddress(server, connectionsPerAddress)
  makeRoom(server, sockets, connections)
  boundHeldBytes(server, sockets, isBehindProxy ? Infinity : HELD_BYTES_PER_ADDRESS)
}

/**
 * Closes the connection that has been idle for longest whenever there are as many as there may be. Clients keep their
 * connections for a minute after a request, and thousands of them must not shut out the next one.
 */
function makeRoom(server: Server, sockets: ReadonlySet<Socket>, most: number): void {
  const idle = new Set<Socket>()
  const answering = new WeakMap<Socket, number>()
  const change = (socket: Socket, by: number) => {
    const left = (answering.get(socket) ?? 0) + by
    answering.set(socket, left)
    if (left === 0 && !socket.destroyed) idle.add(socket)
    else idle.delete(socket)
  }
  server.on('request', ({ socket }, response) => {
    change(socket, 1)
    response.once('close', () => change(socket, -1))
  })
  server.on('connection', (socket: Socket) => {
    socket.once('close', () => idle.delete(socket))
    const [longest] = idle
    // Nobody makes room for a connection that its address may not have.
    if (sockets.size >= most && !socket.destroyed) longest?.destroy()
  })
}

/**
 * Cuts off connections for which too much is kept: of an address the newest, of all together those for which most is kept,
 * so that a short request gets through.
 */
function boundHeldBytes(server: Server, sockets: ReadonlySet<Socket>, bytesPerAddress: number): void {
  const bodies = new WeakMap<Socket, { readonly request: IncomingMessage; readonly begunAt: number }>()
  server.on('request', (request) => bodies.set(request.socket, { request, begunAt: request.socket.bytesRead }))
  const heldBy = (socket: Socket) => {
    const body = bodies.get(socket)
    return socket.writableLength + (body && !body.request.complete ? socket.bytesRead - body.begunAt : 0)
  }
  const look = setInterval(() => {
    const byAddress = new Map<string, number>()
    const kept: { readonly socket: Socket; readonly bytes: number }[] = []
    let together = 0
    for (const socket of sockets) {
      const bytes = heldBy(socket)
      if (bytes === 0) continue
      const address = addressOf(socket.remoteAddress ?? '') ?? ''
      const sum = (byAddress.get(address) ?? 0) + bytes
      if (sum > bytesPerAddress) {
        socket.destroy()
        continue
      }
      byAddress.set(address, sum)
      kept.push({ socket, bytes })
      together += bytes
    }
    if (together <= HELD_BYTES) return
    for (const { socket, bytes } of kept.sort((one, other) => other.bytes - one.bytes)) {
      socket.destroy()
      together -= bytes
      if (together <= HELD_BYTES) return
    }
  }, LOOK_MS).unref()
  server.once('close', () => clearInterval(look))
}

/** Closes connections of an address beyond the most that one may have; 0: no limit. */
function boundConnectionsPerAddress(server: Server, most: number): void {
  if (most === 0) return
  const open = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const address = addressOf(socket.remoteAddress ?? '') ?? ''
    const count = (open.get(address) ?? 0) + 1
    if (count > most) return void socket.destroy()
    open.set(address, count)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left === 0) open.delete(address)
      else open.set(address, left)
    })
  })
}
