import type { ComparedCell, ComparedClause, Comparison } from './compare.ts'
import { escapeMarkdown } from './escape-markdown.ts'
import { shorten } from './shorten.ts'
import { verdictReason, verdictTitle } from './verdict-line.ts'
import { statusSign, targetName } from './words.ts'

const detailLimit = 300

function cellText(cell: ComparedCell | undefined, withDetail: boolean): string {
  if (!cell) return '-'
  const detail = withDetail && cell.detail ? `: ${escapeMarkdown(shorten(cell.detail, detailLimit))}` : ''
  return `${statusSign[cell.status]} ${cell.status}${detail}`
}

function table({ reports }: Comparison, rows: readonly ComparedClause[], withDetail: boolean): string[] {
  const head = ['clause', 'level', ...reports.map(({ name }) => escapeMarkdown(name))]
  const body = rows.map((row) => [
    escapeMarkdown(row.id),
    row.level,
    ...row.cells.map((cell) => cellText(cell, withDetail)),
  ])
  return [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`)
}

/** Several reports in one Markdown text, differences first. */
export function compareMarkdown(comparison: Comparison): string {
  const { reports, differences, same, incomplete } = comparison
  const folded = (title: string, rows: readonly ComparedClause[]) =>
    rows.length === 0
      ? []
      : [
          `<details><summary>${title} (${rows.length})</summary>`,
          '',
          ...table(comparison, rows, false),
          '',
          '</details>',
          '',
        ]
  return [
    `## Touchstone: ${reports.length} reports side by side`,
    '',
    ...reports.map(
      ({ name, report }) =>
        `- **${escapeMarkdown(name)}** (${escapeMarkdown(targetName(report.target))}): ${verdictTitle(report)}, ${verdictReason(report)}`,
    ),
    '',
    `### Differences (${differences.length})`,
    '',
    ...table(comparison, differences, true),
    '',
    ...folded('The same for all', same),
    ...folded('Not in all of them', incomplete),
  ].join('\n')
}
