import { access, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Report } from '../report-types.ts'
import { UsageError } from '../outcome.ts'
import { renderGithub, renderJunit } from './ci.ts'
import { visibleControls } from './escape.ts'
import { renderHtml } from './html/report.ts'
import { renderMarkdown } from './markdown.ts'

type Kind = 'object' | 'array' | 'string' | 'number'

/** The members that the renderers need. A file with these counts as a report. */
const members: Readonly<Partial<Record<keyof Report, Kind>>> = {
  suite: 'object',
  target: 'object',
  startedAt: 'string',
  durationMs: 'number',
  verdict: 'string',
  summary: 'object',
  clauses: 'array',
  options: 'object',
  traffic: 'object',
  transactions: 'array',
  notes: 'array',
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value
}

/**
 * Reads the JSON report of an earlier run.
 *
 * @throws UsageError when the file cannot be read or is no report
 */
export async function readReport(path: string): Promise<Report> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new UsageError(`${path} is not JSON`)
  }
  if (kindOf(value) !== 'object') throw new UsageError(`${path} is no report: an object is expected`)
  for (const [name, kind] of Object.entries(members)) {
    const found = kindOf((value as Record<string, unknown>)[name])
    if (found !== kind) throw new UsageError(`${path} is no report: ${name} is ${found}, not ${kind}`)
  }
  return value as Report
}

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

/** One `--report format=path`; the path `-` is standard output. */
export interface Output<Format extends string> {
  readonly format: Format
  readonly path: string
}

/**
 * Reads `format=path`.
 *
 * @throws UsageError for an unknown format or a missing path
 */
export function parseOutput<Format extends string>(
  argument: string,
  formats: readonly Format[],
  option = '--report',
): Output<Format> {
  const [, name, path] = /^([^=]*)=(.+)$/s.exec(argument) ?? []
  const format = formats.find((known) => known === name)
  if (format === undefined || path === undefined) {
    throw new UsageError(`${option} takes ${formats.map((known) => `${known}=<file>`).join(', ')}; not "${argument}"`)
  }
  return { format, path }
}

/**
 * Makes sure before the work that a file can be written.
 *
 * @throws UsageError when it cannot
 */
export async function assertWritable(path: string): Promise<void> {
  if (path === '-') return
  const isThere = await access(path).then(
    () => true,
    () => false,
  )
  try {
    await (await open(path, 'a')).close()
  } catch (error) {
    throw unwritable(path, error)
  }
  if (!isThere) await rm(path)
}

const unwritable = (path: string, error: unknown) =>
  new UsageError(`the report ${path} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)

/**
 * Writes a text to a file, or to standard output for the path `-`.
 *
 * @throws UsageError when the file cannot be written
 */
export async function writeOutput(text: string, path: string, stdout: { write(text: string): unknown }): Promise<void> {
  if (path === '-') return void stdout.write(text)
  try {
    await writeFile(path, text)
  } catch (error) {
    throw unwritable(path, error)
  }
}

/**
 * Writes files into a folder, which is made where it is missing. Files of other names stay as they are.
 *
 * @param files texts by their paths in the folder
 * @throws UsageError when the folder cannot be written
 */
export async function writeFolder(files: ReadonlyMap<string, string>, folder: string): Promise<void> {
  try {
    for (const [path, text] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
  } catch (error) {
    throw unwritable(folder, error)
  }
}
