import fs from 'node:fs'
import { join, relative } from 'node:path'

/** A disk that keeps, when the power fails, only what a program has waited for. */
export interface Disk {
  /** How often the event loop, and how often a thread, has waited for it by `fdatasync`. */
  readonly waits: { readonly here: number; readonly inThread: number }
  /** Called when a file has been changed, in whatever way. */
  onChange: (path: string) => void
  /** A new folder with what the disk would hold if the power failed now. */
  cutPower(): string
  /** Ends the watch on the file functions of Node. */
  release(): void
}

interface DiskOptions {
  /**
   * Whether what is written to a file gets to the disk at once; by default nothing does. An operating system may do that
   * with any file, whether or not another that was written before is there.
   */
  readonly isWrittenEarly?: (path: string) => boolean
  /** How long the disk takes besides, when it is waited for by `fdatasync`, in milliseconds; by default 0. */
  readonly waitMs?: number
}

type Call = (...args: never[]) => unknown

/**
 * Watches the synchronous functions of `node:fs` that PGlite uses, and `fdatasync`, and keeps a second copy of a folder as
 * the disk has it, beside the folder. A name that is changed is changed there as well; what is written gets there when the
 * file is synced.
 */
export function watchDisk(folder: string, { isWrittenEarly = () => false, waitMs = 0 }: DiskOptions = {}): Disk {
  const copy = `${folder}-disk`
  fs.cpSync(folder, copy, { recursive: true })
  const names = new Map<number, string>()
  const originals: Partial<Record<keyof typeof fs, unknown>> = {}
  const onDisk = (path: string) => join(copy, relative(folder, path))
  const isWatched = (path: unknown): path is string => typeof path === 'string' && path.startsWith(join(folder, '/'))

  function watch(name: keyof typeof fs, after: (args: unknown[], result: unknown) => void): void {
    const original = fs[name] as Call
    originals[name] = original
    Object.assign(fs, {
      [name]: (...args: never[]) => {
        const result = original(...args)
        after(args, result)
        return result
      },
    })
  }

  const sync = (descriptor: unknown) => {
    const path = names.get(descriptor as number)
    if (path !== undefined && fs.statSync(path, { throwIfNoEntry: false })?.isFile())
      fs.copyFileSync(path, onDisk(path))
  }
  const changed = (path: unknown) => {
    if (!isWatched(path)) return
    if (isWrittenEarly(path) && fs.existsSync(path)) fs.copyFileSync(path, onDisk(path))
    disk.onChange(path)
  }
  watch('openSync', ([path], descriptor) => {
    if (isWatched(path)) names.set(descriptor as number, path)
    else names.delete(descriptor as number)
  })
  watch('fsyncSync', ([descriptor]) => sync(descriptor))
  const waits = { here: 0, inThread: 0 }
  watch('fdatasyncSync', ([descriptor]) => {
    waits.here++
    for (const beganMs = performance.now(); performance.now() - beganMs < waitMs;);
    sync(descriptor)
  })
  watch('writeSync', ([descriptor]) => changed(names.get(descriptor as number)))
  watch('ftruncateSync', ([descriptor]) => changed(names.get(descriptor as number)))
  watch('truncateSync', ([path]) => changed(path))
  watch('mkdirSync', ([path]) => isWatched(path) && fs.mkdirSync(onDisk(path), { recursive: true }))
  watch('unlinkSync', ([path]) => {
    if (isWatched(path)) fs.rmSync(onDisk(path), { force: true })
    changed(path)
  })
  watch('renameSync', ([from, to]) => {
    if (isWatched(from) && isWatched(to) && fs.existsSync(onDisk(from))) fs.cpSync(onDisk(from), onDisk(to))
    if (isWatched(from)) fs.rmSync(onDisk(from), { force: true })
  })

  const fdatasync = fs.fdatasync
  originals['fdatasync'] = fdatasync
  Object.assign(fs, {
    fdatasync: (descriptor: number, done: fs.NoParamCallback) =>
      fdatasync(descriptor, (error) => {
        waits.inThread++
        setTimeout(() => {
          if (error === null) sync(descriptor)
          done(error)
        }, waitMs)
      }),
  })
  let cuts = 0
  const disk: Disk = {
    waits,
    onChange: () => {},
    cutPower: () => {
      const left = `${folder}-left-${++cuts}`
      fs.cpSync(copy, left, { recursive: true })
      return left
    },
    release: () => void Object.assign(fs, originals),
  }
  return disk
}
