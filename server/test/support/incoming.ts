import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'

/** A request whose body is there, in these pieces. */
export const incoming = (...pieces: readonly string[]) =>
  Object.assign(Readable.from(pieces.map((piece) => Buffer.from(piece))), { headers: {} }) as IncomingMessage
