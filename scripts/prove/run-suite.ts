import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Report } from '../../conformance/index.ts'

export interface SuiteRun {
  readonly exitCode: number
  readonly report: Report
}

export interface SuiteOptions {
  readonly url: string
  readonly fixtureFile: string
  /** Clause id or what it begins with; absent: everything. */
  readonly only?: string
  /** Further arguments of `check`. */
  readonly options?: readonly string[]
  /** Of a certificate that the run trusts. */
  readonly certificateFile?: string
}

/**
 * Runs the suite as its users do: the command `check` in a process of its own, over HTTP, with the JSON report.
 *
 * @throws Error when the command writes no report
 */
export async function runSuite({
  url,
  fixtureFile,
  only,
  options = [],
  certificateFile,
}: SuiteOptions): Promise<SuiteRun> {
  const folder = await mkdtemp(join(tmpdir(), 'touchstone-prove-run-'))
  const reportFile = join(folder, 'report.json')
  const script = join(import.meta.dirname, '..', `touchstone${import.meta.filename.endsWith('.js') ? '.js' : '.ts'}`)
  const args = [
    ...[script, 'check', url, '--fixture', fixtureFile, '--report', `json=${reportFile}`],
    ...(only === undefined ? [] : ['--only', only]),
    ...options,
  ]
  const trusted = certificateFile === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificateFile }
  try {
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ...trusted },
    })
    let errors = ''
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    const [exitCode] = (await once(child, 'close')) as [number | null]
    const text = await readFile(reportFile, 'utf8').catch(() => {
      throw new Error(`check ended with ${exitCode} and wrote no report: ${errors.trim()}`)
    })
    return { exitCode: exitCode ?? -1, report: JSON.parse(text) as Report }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
