import type { PGlite } from '@electric-sql/pglite'
import { Duplex } from 'node:stream'
import { ServiceError } from '../../core/errors.ts'

/**
 * A connection to PGlite for `pg`, in place of a socket. PGlite's own client takes a statement with parameters through
 * five calls into WebAssembly, `pg` through one, which takes a small statement half as long.
 */
export class PGliteStream extends Duplex {
  readonly #pglite: PGlite

  constructor(pglite: PGlite) {
    super()
    this.#pglite = pglite
  }

  // What `pg` wants of a socket.
  connect(): this {
    process.nextTick(() => this.emit('connect'))
    return this
  }

  setNoDelay(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  override _read(): void {}

  override _write(message: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#exchange(message).then(() => done(), done)
  }

  override _writev(messages: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#exchange(Buffer.concat(messages.map(({ chunk }) => chunk))).then(() => done(), done)
  }

  override _final(done: () => void): void {
    this.push(null)
    done()
  }

  /** PGlite is not to collect the answer, since it parses it then, and keeps what it has parsed for ever. */
  async #exchange(messages: Buffer): Promise<void> {
    const pieces: Buffer[] = []
    // A piece lies in PGlite's memory, where the next one overwrites it.
    try {
      await this.#pglite.execProtocolRawStream(messages, { onRawData: (piece) => pieces.push(Buffer.from(piece)) })
    } catch (cause) {
      // PostgreSQL has given up (it could not write its log, say), and is not to be had before the next start.
      throw new ServiceError('UPSTREAM_UNAVAILABLE', 'the embedded database has failed', { cause })
    }
    this.push(Buffer.concat(pieces))
  }
}
