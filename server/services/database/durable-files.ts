import type { NodeFS } from '@electric-sql/pglite/nodefs'
import fs from 'node:fs'
import { promisify } from 'node:util'
import { optionalPackage } from '../../core/optional-package.ts'

/** The files of the embedded database in a folder, of which a power failure takes nothing that was acknowledged. */
export interface DurableFiles {
  readonly fs: NodeFS
  /** Parameters of PostgreSQL: it waits for the disk as a server does, which PGlite by itself does not let it do. */
  readonly startParams: readonly string[]
  /**
   * Resolves when what PostgreSQL has written to its log is on the disk. Until then nothing that the last statement did may
   * be acknowledged.
   */
  logSynced(): Promise<void>
}

/**
 * PostgreSQL waits for the disk at each commit, and in WebAssembly the event loop would wait with it. So its log is only
 * marked when it asks, and {@link DurableFiles.logSynced} waits for the disk, in a thread if that is slow. PostgreSQL relies
 * on its log being on the disk before anything else is changed: such a change waits for the disk then and there. It is
 * rare, since most are made by a checkpoint.
 *
 * @throws OperatorError PGlite is not installed
 */
export async function durableFiles(folder: string): Promise<DurableFiles> {
  const nodefs = await optionalPackage('@electric-sql/pglite', () => import('@electric-sql/pglite/nodefs'))
  const log = new WrittenLog()

  class DurableFS extends nodefs.NodeFS {
    override async init(...args: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
      const { emscriptenOpts } = await super.init(...args)
      const change = ({ NODEFS }: { NODEFS: unknown }) => makeDurable(NODEFS as NodeFiles, log)
      return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), change] } }
    }
  }
  return {
    fs: new DurableFS(folder),
    // Of the ways to wait for the log, PGlite passes on this one alone.
    startParams: ['-c', 'fsync=on', '-c', 'wal_sync_method=fsync'],
    logSynced: () => log.synced(),
  }
}

/** A shorter wait for the disk, in milliseconds, is done here: a thread adds 0.45 ms to it, and 0.3 ms of CPU. */
const SHORT_WAIT_MS = 1

/** The files of the log that PostgreSQL takes to be on the disk, and that may not be there yet. */
class WrittenLog {
  /** By their descriptors, with the time that each was marked. */
  readonly #marked = new Map<number, symbol>()
  #lastWaitMs = 0

  mark(descriptor: number): void {
    this.#marked.set(descriptor, Symbol('time'))
  }

  isMarked(descriptor: number, time = this.#marked.get(descriptor)): boolean {
    return time !== undefined && this.#marked.get(descriptor) === time
  }

  syncNow(): void {
    for (const descriptor of this.#marked.keys()) fs.fdatasyncSync(descriptor)
    this.#marked.clear()
  }

  async synced(): Promise<void> {
    if (this.#marked.size === 0) return
    const beganMs = performance.now()
    if (this.#lastWaitMs < SHORT_WAIT_MS) this.syncNow()
    else await Promise.all([...this.#marked].map(([descriptor, time]) => this.#syncInThread(descriptor, time)))
    this.#lastWaitMs = performance.now() - beganMs
  }

  async #syncInThread(descriptor: number, time: symbol): Promise<void> {
    try {
      await promisify(fs.fdatasync)(descriptor)
    } catch (error) {
      // Otherwise a change did not wait for the thread, and the file may be closed.
      if (this.isMarked(descriptor, time)) throw error
    }
    if (this.isMarked(descriptor, time)) this.#marked.delete(descriptor)
  }
}

/** An open file of Emscripten's NODEFS. */
interface Stream {
  readonly path: string
  /** The descriptor that Node knows it by. */
  readonly nfd: number
}

/** What NODEFS does for PostgreSQL, by the names of Emscripten. */
interface NodeFiles {
  readonly node_ops: Record<'rename' | 'unlink' | 'setattr', (...args: never[]) => unknown>
  readonly stream_ops: Record<'write' | 'close' | 'setattr', (stream: Stream, ...args: never[]) => unknown> & {
    fsync?: (stream: Stream) => number
  }
  /** Turns an error of Node into one of Emscripten, which PostgreSQL reads as errno. */
  tryFSOperation(operation: () => void): void
}

function makeDurable(
  { node_ops: node, stream_ops: stream, tryFSOperation: attempt }: NodeFiles,
  log: WrittenLog,
): void {
  const isOfLog = ({ path }: Stream) => path.includes('/pg_wal/')
  stream.fsync = (file) => {
    if (isOfLog(file)) log.mark(file.nfd)
    else attempt(() => fs.fsyncSync(file.nfd))
    return 0
  }
  for (const name of ['write', 'setattr', 'close'] as const) {
    const original = stream[name]
    stream[name] = (file, ...args) => {
      const isSafe = name === 'close' ? !log.isMarked(file.nfd) : isOfLog(file)
      if (!isSafe) attempt(() => log.syncNow())
      return original(file, ...args)
    }
  }
  for (const name of ['rename', 'unlink', 'setattr'] as const) {
    const original = node[name]
    node[name] = (...args) => {
      attempt(() => log.syncNow())
      return original(...args)
    }
  }
}
