import type { Report } from '../report-types.ts'
import type { ComparedCell, ComparedClause, Comparison } from './compare.ts'
import { visibleControls } from './visible-controls.ts'
import { shorten } from './shorten.ts'
import { paintedSign, painter, type Paint } from './terminal-style.ts'
import type { TerminalOptions } from './terminal.ts'
import { verdictReason, verdictTitle } from './verdict-line.ts'
import { targetName } from './words.ts'
import { wrap } from './wrap.ts'

const detailLimit = 300

function signs(cells: readonly (ComparedCell | undefined)[], paint: Paint): string {
  return cells.map((cell) => (cell ? paintedSign(cell.status, paint) : '-').padStart(1)).join('  ')
}

function differing(row: ComparedClause, { reports }: Comparison, paint: Paint, width: number): string[] {
  const details = row.cells.map((cell, index) => {
    const detail = cell?.detail.replaceAll('\n', '; ')
    const said = cell ? `${cell.status}${detail ? `: ${shorten(detail, detailLimit)}` : ''}` : 'not in it'
    return wrap(visibleControls(`${reports[index]?.name}: ${said}`), width, '        ')
  })
  return [`  ${signs(row.cells, paint)}  ${paint('bold', row.id)}  ${paint('dim', row.level)}`, ...details]
}

/** The target, where a report goes by the name of its file. */
function otherName(name: string, { target }: Report): string {
  return targetName(target) === name ? '' : `  ${visibleControls(targetName(target))}`
}

/** Several reports on a terminal: who is who, the differences with what was said, then one line for each other clause. */
export function compareTerminal(comparison: Comparison, options: TerminalOptions): string {
  const paint = painter(options.colour)
  const width = Math.max(40, options.width ?? 100)
  const { reports, differences, same, incomplete } = comparison
  const lines = (title: string, rows: readonly ComparedClause[]) =>
    rows.length === 0
      ? []
      : [
          '',
          paint('bold', `${title} (${rows.length})`),
          ...rows.map((row) => `  ${signs(row.cells, paint)}  ${row.id}`),
        ]
  return [
    ...reports.flatMap(({ name, report }, index) => [
      `${index + 1}. ${paint('bold', visibleControls(name))}${otherName(name, report)}`,
      `   ${verdictTitle(report)}: ${verdictReason(report)}`,
    ]),
    '',
    paint('bold', `Differences (${differences.length})`),
    ...differences.flatMap((row) => differing(row, comparison, paint, width)),
    ...lines('The same for all', same),
    ...lines('Not in all of them', incomplete),
    '',
    paint('dim', '✓ passed  ✗ failed  ≈ failed as expected  ? untestable  · observed  - not in the report'),
    '',
  ].join('\n')
}
