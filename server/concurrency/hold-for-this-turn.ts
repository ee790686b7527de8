import type { Socket } from 'node:net'

/** Lets what is written to a socket gather until the turn of the event loop is over, and leave in one piece. */
export function holdForThisTurn(socket: Socket): void {
  if (socket.writableCorked > 0) return
  socket.cork()
  setImmediate(() => socket.uncork())
}
