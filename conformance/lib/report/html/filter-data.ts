import type { ClauseResult } from '../../report-types.ts'
import { shownStatus } from '../words.ts'
import { markup, type Markup } from './markup.ts'

/** The attributes by which the filters find a clause. */
export function filterData(clause: ClauseResult): Markup {
  const text = `${clause.id} ${clause.text}`.toLowerCase()
  return markup`data-clause="${clause.id}" data-document="${clause.document}" data-level="${clause.level}" data-status="${shownStatus(clause)}" data-text="${text}"`
}
