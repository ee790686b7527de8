import { writeSync } from 'node:fs'
import { pino, type Logger } from 'pino'

const STANDARD_OUTPUT = 1
/** A pipe that nobody reads is waited for so long in all, in milliseconds. */
const LONGEST_WAIT_MS = 100

/** Writes bytes, and returns how many it has written. */
type Write = (bytes: Uint8Array) => number

/**
 * The server's log, on standard output. Lines that cannot be written are lost, and their number is written when lines can be
 * written again: with pino's own output a full disk would end the process, or rather make it wait for ever in its exit.
 *
 * @param write absent: to standard output
 */
export function createLog(level: string, write: Write = (bytes) => writeSync(STANDARD_OUTPUT, bytes)): Logger {
  let lost = 0
  const log = pino({ level }, { write: writeLine })

  function writeLine(line: string): void {
    if (lost > 0) {
      const count = lost
      // The first of the lost lines may be written in part.
      if (!writeAll(write, '\n')) return void lost++
      lost = 0
      log.warn({ lost: count }, 'log lines could not be written')
      // That line was lost as well: this one is not tried, and all are still to be told of.
      if (lost > 0) return void (lost = count + 1)
    }
    if (!writeAll(write, line)) lost++
  }
  return log
}

/** @returns whether all of it is written */
function writeAll(write: Write, text: string): boolean {
  let rest: Uint8Array = Buffer.from(text)
  for (let waitedMs = 0; waitedMs <= LONGEST_WAIT_MS;) {
    try {
      const written = write(rest)
      if (written === 0) return false
      rest = rest.subarray(written)
      if (rest.length === 0) return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return false
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
      waitedMs++
    }
  }
  return false
}
