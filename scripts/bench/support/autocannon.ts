import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { optionalCommand } from '../../../server/core/optional-package.ts'

export interface CannonResult {
  readonly perSecond: number
  readonly p99Ms: number
}

export interface CannonOptions {
  readonly url: string
  readonly body: string
  readonly connections: number
  readonly seconds: number
}

/**
 * Posts one body again and again, from a process of its own.
 *
 * @throws Error when an answer is another one than the first
 */
export async function fire({ url, body, connections, seconds }: CannonOptions): Promise<CannonResult> {
  const headers = { 'content-type': 'application/json' }
  const expected = await (await fetch(url, { method: 'POST', headers, body })).text()
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      optionalCommand('autocannon'),
      ...['--json', '--connections', String(connections), '--duration', String(seconds)],
      ...['--method', 'POST', '--headers', 'content-type=application/json', '--body', body],
      ...['--expectBody', expected, url],
    ],
    { maxBuffer: 64 * 1024 * 1024 },
  )
  const result = JSON.parse(stdout) as {
    readonly duration: number
    readonly mismatches: number
    readonly errors: number
    readonly non2xx: number
    readonly requests: { readonly total: number }
    readonly latency: { readonly p99: number }
  }
  const { mismatches, errors, non2xx } = result
  if (mismatches + errors + non2xx > 0) {
    throw new Error(`${url}: ${mismatches} other answers, ${errors} errors, ${non2xx} without 2xx`)
  }
  return { perSecond: result.requests.total / result.duration, p99Ms: result.latency.p99 }
}
