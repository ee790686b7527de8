import { fork, type ChildProcess } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../../testbed/at-exit.ts'
import type { Report } from '../../conformance/lib/report-types.ts'
import type { SuiteOutcome } from './suite-process.ts'

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
}

/** Runs the suite as its users do: the command `check` in another process, over HTTP, with the JSON report. */
export interface SuiteRunners {
  /** @throws Error when the command writes no report */
  run(options: SuiteOptions): Promise<SuiteRun>
  close(): void
}

/** A process runs one suite after the other, because starting a process takes as long as many runs. */
const script = join(import.meta.dirname, `suite-process${import.meta.filename.endsWith('.js') ? '.js' : '.ts'}`)

function outcomeOf(child: ChildProcess, args: readonly string[]): Promise<SuiteOutcome> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`the suite's process ended with ${code}`))
    child.once('exit', ended)
    child.once('message', (outcome: SuiteOutcome) => {
      child.off('exit', ended)
      resolve(outcome)
    })
    child.send(args)
  })
}

/** @param certificateFile of the certificate that the suite trusts beside the known ones; runs leave files beside it */
export function createSuiteRunners(certificateFile: string): SuiteRunners {
  const idle: ChildProcess[] = []
  const all = new Set<ChildProcess>()

  function start(): ChildProcess {
    // The suite takes testbeds that start in the same second for one chain, whose controllers take turns by a file in TMPDIR.
    const TMPDIR = mkdtempSync(join(dirname(certificateFile), 'runner-'))
    const child = fork(script, { env: { ...process.env, TMPDIR, NODE_EXTRA_CA_CERTS: certificateFile } })
    all.add(child)
    child.once('exit', () => all.delete(child))
    return child
  }

  return {
    async run({ url, fixtureFile, only, options = [] }) {
      const folder = temporaryFolder('prove-run')
      const reportFile = join(folder.path, 'report.json')
      const args = [
        ...[url, '--fixture', fixtureFile, '--report', `json=${reportFile}`],
        ...(only === undefined ? [] : ['--only', only]),
        ...options,
      ]
      const child = idle.pop() ?? start()
      try {
        const { exitCode, errors } = await outcomeOf(child, args)
        idle.push(child)
        const text = await readFile(reportFile, 'utf8').catch(() => {
          throw new Error(`check ended with ${exitCode} and wrote no report: ${errors.trim()}`)
        })
        return { exitCode, report: JSON.parse(text) as Report }
      } finally {
        folder.remove()
      }
    },
    close() {
      for (const child of all) child.disconnect()
    },
  }
}
