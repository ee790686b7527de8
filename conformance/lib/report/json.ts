import type { Report } from '../report-types.ts'

/** The report object as it stands, for programs. */
export function renderJson(report: Report): string {
  return `${JSON.stringify(report, null, 2)}\n`
}
