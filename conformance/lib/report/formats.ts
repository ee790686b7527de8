import type { Report } from '../report-types.ts'
import { renderGithub } from './github.ts'
import { renderHtml } from './html.ts'
import { renderJson } from './json.ts'
import { renderJunit } from './junit.ts'
import { renderMarkdown } from './markdown.ts'

/** The formats of `--report <format>=<file>` and what writes them. */
export const reportRenderers = {
  json: renderJson,
  junit: renderJunit,
  html: renderHtml,
  markdown: renderMarkdown,
  github: renderGithub,
} as const satisfies Record<string, (report: Report) => string>

export type ReportFormat = keyof typeof reportRenderers

export const reportFormats = Object.keys(reportRenderers) as readonly ReportFormat[]
