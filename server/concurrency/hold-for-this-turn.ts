import type { Socket } from 'node:net'

/** Gathers what is written to a socket during a turn of the event loop, and sends it in one piece when the turn is over. */
export function holdForThisTurn(socket: Socket): void {
  if (socket.writableCorked > 0) return
  socket.cork()
  setImmediate(() => socket.uncork())
}
