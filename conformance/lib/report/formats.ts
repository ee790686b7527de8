import type { Report } from '../report-types.ts'
import { visibleControls } from './escape.ts'
import { renderGithub } from './github.ts'
import { renderHtml } from './html.ts'
import { renderJunit } from './junit.ts'
import { renderMarkdown } from './markdown.ts'

/**
 * The report as JSON, for programs. Control characters and marks that reorder text are written as JSON escapes, so
 * that the file shows them and a parser gets the same text.
 */
export function renderJson(report: Report): string {
  return `${visibleControls(JSON.stringify(report, null, 2))}\n`
}

/** The formats of `--report <format>=<file>` and their renderers. */
export const reportRenderers = {
  json: renderJson,
  junit: renderJunit,
  html: renderHtml,
  markdown: renderMarkdown,
  github: renderGithub,
} as const satisfies Record<string, (report: Report) => string>

export type ReportFormat = keyof typeof reportRenderers

export const reportFormats = Object.keys(reportRenderers) as readonly ReportFormat[]
