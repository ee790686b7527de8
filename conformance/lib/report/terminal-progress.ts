import type { CheckResult, CheckStatus, ClauseResult, Plan, Progress, Report } from '../report-types.ts'
import { allClauses, clauseStatus } from '../verdict.ts'
import { visibleControls } from './escape.ts'
import { paintedSign, painter, renderTerminal, type TerminalOptions, type TextStream } from './terminal.ts'
import { documentTitle, seconds, shownStatus, targetName } from './words.ts'

type ClauseHead = Pick<ClauseResult, 'id' | 'document' | 'level' | 'section' | 'text'>

/** What a run is going to do, and what it may cost the relay, one line each. */
export function planLines({ target, edition, checks, transactions, gas }: Plan): string[] {
  const cost = `${transactions} relay calls, ${(gas / 1e6).toFixed(1)} million gas`
  return [
    `Touchstone checks ${targetName(target)} (edition ${edition}, ${checks} checks)`,
    transactions === 0 ? 'The run sends nothing that spends.' : `The run may cost the relay about ${cost}.`,
  ]
}

/** What stands behind the id of a clause: its level, the number of its checks and their time. */
function remarksOn({ level }: ClauseHead, checks: readonly CheckResult[], status: CheckStatus): string[] {
  const spentMs = checks.reduce((sum, check) => sum + check.durationMs, 0)
  return [
    ...(status === 'failed' && level === 'recommended' ? ['recommended'] : []),
    ...(checks.length > 1 ? [`${checks.length} checks`] : []),
    ...(spentMs >= 100 ? [seconds(spentMs)] : []),
  ]
}

/**
 * Shows on a stream how a run goes: one line for each clause when its checks are done, grouped by document and suite; on a
 * terminal also a last line with the clause that is being checked. At the end it writes what {@link renderTerminal}
 * returns.
 */
export function createTerminalProgress(stream: TextStream, options: TerminalOptions): Progress {
  const paint = painter(options.colour)
  const live = stream.isTTY === true
  const printed = new Set<string>()
  let open: { clause: ClauseHead; checks: CheckResult[] } | undefined
  let lastPart: string | undefined
  let total = 0
  let done = 0

  const finalText = (report: Report) =>
    renderTerminal(report, { ...options, ...(stream.columns ? { width: stream.columns } : {}) })
  // `--quiet` shows no line for each clause.
  if (options.quiet) return { finished: (report) => void stream.write(finalText(report)) }

  const line = (text: string) => stream.write(`${live ? '\r\x1b[2K' : ''}${text}\n`)

  function clauseLine(
    clause: ClauseHead,
    checks: readonly CheckResult[],
    known: ClauseResult['known'],
    status: CheckStatus,
  ) {
    const part = clause.document === 'extension' ? (clause.id.split('.')[0] ?? '') : clause.document
    if (part !== lastPart) {
      lastPart = part
      line('')
      line(paint('bold', `${part}: ${documentTitle[clause.document]}`))
    }
    const shown = shownStatus({ status, ...(known ? { known } : {}) })
    const extra = remarksOn(clause, checks, status)
    line(`  ${paintedSign(shown, paint)} ${clause.id}${extra.length > 0 ? paint('dim', `  ${extra.join(', ')}`) : ''}`)
    printed.add(clause.id)
  }

  function flush(): void {
    if (open) clauseLine(open.clause, open.checks, undefined, clauseStatus(open.checks))
    open = undefined
  }

  return {
    started(plan) {
      total = plan.checks
      for (const text of planLines(plan)) line(visibleControls(text).replace('Touchstone', paint('bold', 'Touchstone')))
    },
    checked(clause, check) {
      done += 1
      if (open?.clause.id !== clause.id) {
        flush()
        open = { clause, checks: [] }
      }
      open.checks.push(check)
      if (live) stream.write(`\r\x1b[2K${paint('dim', `  ${done}/${total} ${clause.id}`)}`)
    },
    finished(report) {
      flush()
      for (const clause of report.verdict === 'error' ? [] : allClauses(report)) {
        if (!printed.has(clause.id)) clauseLine(clause, clause.tests, clause.known, clause.status)
      }
      if (live) stream.write('\r\x1b[2K')
      stream.write(finalText(report))
    },
  }
}

/**
 * A terminal sends a signal to the process and to its group. A second signal within this time counts as the same
 * one.
 */
const sameSignalMs = 500
const interrupts = ['SIGINT', 'SIGTERM'] as const

/**
 * Calls `onFirst` at the first Ctrl-C or SIGTERM, so that the run can end in order. A later signal ends the process
 * at once.
 *
 * @param onFirst called once
 */
export function onInterrupt(onFirst: () => void): { stop(): void } {
  let firstMs: number | undefined
  const handle = (): void => {
    if (firstMs === undefined) {
      firstMs = performance.now()
      onFirst()
    } else if (performance.now() - firstMs > sameSignalMs) process.exit(130)
  }
  for (const name of interrupts) process.on(name, handle)
  return {
    stop() {
      for (const name of interrupts) process.off(name, handle)
    },
  }
}
