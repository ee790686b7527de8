import type { PGlite } from '@electric-sql/pglite'
import { Duplex } from 'node:stream'
import { ServiceError } from '../../core/errors.ts'

/**
 * A connection to PGlite for `pg`, in place of a socket. For a statement with parameters PGlite's own client makes five
 * calls into WebAssembly, and `pg` one: a small statement takes half the time.
 */
export class PGliteStream extends Duplex {
  readonly #pglite: PGlite

  constructor(pglite: PGlite) {
    super()
    this.#pglite = pglite
  }

  // Methods that `pg` calls on a socket.
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

  /** Hands the answer on in pieces. If PGlite collected it, it would parse it, and keep what it has parsed for ever. */
  async #exchange(messages: Buffer): Promise<void> {
    const pieces: Buffer[] = []
    // The piece lies in PGlite's memory, and the next piece overwrites it: copy it.
    try {
      await this.#pglite.execProtocolRawStream(messages, { onRawData: (piece) => pieces.push(Buffer.from(piece)) })
    } catch (cause) {
      // PostgreSQL has stopped, for example because it could not write its log. Only a new start brings it back.
      throw new ServiceError('UPSTREAM_UNAVAILABLE', 'the embedded database has failed', { cause })
    }
    this.push(Buffer.concat(pieces))
  }
}
