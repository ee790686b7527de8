import type { Report } from '../report-types.ts'
import { visibleControls } from './visible-controls.ts'

/**
 * The report object as it stands, for programs. Control characters and marks that reorder text are written as the
 * escapes of JSON, so that the file shows them and a parser gets the same text.
 */
export function renderJson(report: Report): string {
  return `${visibleControls(JSON.stringify(report, null, 2))}\n`
}
