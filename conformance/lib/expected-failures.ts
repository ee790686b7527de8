import { readFile } from 'node:fs/promises'
import { Document, isMap, isSeq, parse, parseDocument } from 'yaml'
import { clauses } from '../../specs/index.ts'
import type { ClauseResult, Report } from './report-types.ts'
import { UsageError } from './outcome.ts'

/** An entry of the file. An id that names no clause makes the entry stale; it is no usage error. */
export interface ExpectedFailure {
  readonly id: string
  readonly reason: string
  readonly link?: string
}

function isEntry(value: unknown): value is ExpectedFailure {
  const { id, reason, link } = (value ?? {}) as Record<string, unknown>
  return (
    typeof id === 'string' &&
    typeof reason === 'string' &&
    reason !== '' &&
    ['string', 'undefined'].includes(typeof link)
  )
}

/** Reads a list of `{ id, reason, link? }` in YAML or JSON. @throws UsageError */
export async function readExpectedFailures(path: string): Promise<ExpectedFailure[]> {
  let value: unknown
  try {
    value = parse(await readFile(path, 'utf8')) ?? []
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UsageError(`the expected failures ${path} cannot be read (${code ?? message})`)
  }
  if (!Array.isArray(value)) throw new UsageError(`${path}: a list of { id, reason, link } is expected`)
  const wrong = value.findIndex((entry) => !isEntry(entry))
  if (wrong >= 0) throw new UsageError(`${path}: entry ${wrong + 1} needs an id and a reason, and may have a link`)
  return value as ExpectedFailure[]
}

/** Marks the failures that the file expects, and finds the entries that are no longer true. */
export function applyExpectedFailures(
  results: readonly ClauseResult[],
  expected: readonly ExpectedFailure[],
): { results: ClauseResult[]; stale: NonNullable<Report['staleExpectedFailures']> } {
  const entries = new Map(expected.map((entry) => [entry.id, entry]))
  const statuses = new Map<string, ClauseResult['status']>(results.map(({ id, status }) => [id, status]))
  const stale = expected.flatMap(({ id }) => {
    const status = statuses.get(id)
    if (status === undefined && !Object.hasOwn(clauses, id)) return [{ id, why: 'there is no such clause' }]
    // A clause that was not selected, or that no check could judge, does not make its entry stale.
    return status === 'passed' || status === 'observed' ? [{ id, why: `it is expected to fail and ${status}` }] : []
  })
  const marked = results.map((result) => {
    const entry = entries.get(result.id)
    return result.status === 'failed' && entry ? { ...result, known: entry } : result
  })
  return { results: marked, stale }
}

/** Entries that expect exactly the failures of these results. */
export function expectedFrom(results: readonly ClauseResult[]): ExpectedFailure[] {
  return results
    .filter(({ status }) => status === 'failed')
    .map(({ id, tests }) => {
      const test = tests.find(({ status }) => status === 'failed')
      return { id, reason: test?.error?.message ?? 'failed', link: '' }
    })
}

const heading = ' Clauses that are known to fail: why, and where it is followed up.'

/**
 * Writes the file that expects these failures, in YAML. An entry that is already there keeps its words and comments.
 * Entries of clauses that passed are removed. Entries of clauses that nobody judged stay.
 *
 * @param before the text of the present file; absent: there is no file
 */
export function writeExpectedFailures(results: readonly ClauseResult[], before?: string): string {
  const document = before === undefined ? new Document([]) : parseDocument(before)
  if (!isSeq(document.contents)) document.contents = document.createNode([])
  if (before === undefined) document.commentBefore = heading
  const list = document.contents
  if (!isSeq(list)) throw new Error('a list was made')
  const idOf = (item: unknown): unknown => (isMap(item) ? item.get('id') : undefined)
  const healed = new Set(
    results.filter(({ status }) => status === 'passed' || status === 'observed').map(({ id }) => id),
  )
  list.items = list.items.filter((item) => !healed.has(String(idOf(item))))
  const present = new Set(list.items.map(idOf))
  list.flow = false
  for (const entry of expectedFrom(results)) if (!present.has(entry.id)) list.add(document.createNode(entry))
  return document.toString()
}
