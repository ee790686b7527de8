import { readFile } from 'node:fs/promises'
import type { Report } from '../report-types.ts'
import { UsageError } from '../usage-error.ts'

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
