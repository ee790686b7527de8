import type { CheckStatus, ClauseResult, Report, SuiteReport, Verdict } from '../report-types.ts'

/** The status of a clause as reports show it: an expected failure has a word of its own. */
export type ShownStatus = CheckStatus | 'known'

/** The statuses, the most urgent first. */
export const shownStatuses: readonly ShownStatus[] = ['failed', 'known', 'untestable', 'observed', 'passed']

/** The status of a clause as shown: `known` for a failure that was expected. */
export function shownStatus(clause: Pick<ClauseResult, 'status' | 'known'>): ShownStatus {
  return clause.status === 'failed' && clause.known ? 'known' : clause.status
}

/** A sign for each status, for readers who see no colours. */
export const statusSign: Readonly<Record<ShownStatus, string>> = {
  passed: '✓',
  failed: '✗',
  known: '≈',
  untestable: '?',
  observed: '·',
}

export const verdictWord: Readonly<Record<Verdict, string>> = {
  conformant: 'Conformant',
  passed: 'Passed',
  nonconformant: 'Not conformant',
  partial: 'Partial',
  error: 'No judgement',
}

export const documentTitle: Readonly<Record<ClauseResult['document'], string>> = {
  'eth-rpc': 'Ethereum-compatible JSON-RPC interface',
  relay: 'Transaction relay service interface',
  client: 'What both documents say of the callers of a relay',
  extension: 'Extensions, by a suite of somebody else',
}

/** `acme: 2 of 3 required clauses passed, 1 failed; no part of the verdict` */
export function suiteText({ prefix, summary: { required, recommended } }: SuiteReport): string {
  const total = required.passed + required.failed + required.untestable
  const parts = [
    `${required.passed} of ${plural(total, 'required clause')} passed`,
    ...(required.failed > 0 ? [`${required.failed} failed`] : []),
    ...(required.untestable > 0 ? [`${required.untestable} could not be tested`] : []),
    ...(recommended.failed > 0 ? [`${plural(recommended.failed, 'recommendation')} not met`] : []),
  ]
  return `${prefix}: ${parts.join(', ')}; no part of the verdict`
}

/** `acme: Acme's extensions (touchstone-suite-acme 1.0.0)` */
export function suiteTitle({ prefix, title, source, version }: SuiteReport): string {
  return `${prefix}: ${title} (${source}${version === undefined ? '' : ` ${version}`})`
}

/** The URLs of the target, or the command of the client, as one short text. */
export function targetName(target: Report['target']): string {
  if (target.client !== undefined) return target.client
  const urls = [target.relayUrl, target.ethRpcUrl].filter((url) => url !== null)
  return [...new Set(urls)].join(' and ') || 'no target'
}

/** The observations of a clause, each once. */
export function observationsOf(clause: Pick<ClauseResult, 'observation' | 'tests'>): string[] {
  const each = clause.tests.flatMap((check) => check.observations ?? [])
  return [...new Set(each.length > 0 || clause.observation === undefined ? each : [clause.observation])]
}

function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** The required clauses that failed as expected. */
function knownFailures({ clauses }: Report): number {
  return clauses.filter(({ level, status, known }) => level === 'required' && status === 'failed' && known).length
}

/** The word for the verdict, and what the list of expected failures adds to it. */
export function verdictTitle(report: Report): string {
  const word = verdictWord[report.verdict]
  const known = knownFailures(report)
  if (known < report.summary.required.failed) return word
  const expected = known > 0 ? `, as expected (${plural(known, 'known failure')})` : ''
  const stale = staleText(report)
  return `${word}${expected}${stale === '' ? '' : `; ${stale}`}`
}

function staleText({ staleExpectedFailures = [] }: Report): string {
  const { length } = staleExpectedFailures
  return length === 0 ? '' : `${plural(length, 'entry is', 'entries are')} stale`
}

/** `1 cause, 9 clauses not judged because of it` */
function causesText({ causes = [] }: Report): string[] {
  if (causes.length === 0) return []
  const left = new Set(causes.flatMap(({ notJudged }) => notJudged)).size
  const them = causes.length === 1 ? 'it' : 'them'
  return [`${plural(causes.length, 'cause')}, ${plural(left, 'clause')} not judged because of ${them}`]
}

/** The clauses that the counts are about: `55 required clauses`, or `1 selected required clause (of 55)`. */
function requiredText({ verdict, summary, options, target }: Report): string {
  const { required, ofRequired } = summary
  const total = required.passed + required.failed + required.untestable
  const isPart = verdict === 'passed' || options.only !== null || target.relayUrl === null || target.ethRpcUrl === null
  if (!isPart || ofRequired === undefined) return plural(total, 'required clause')
  return `${total} selected required clauses (of ${ofRequired})`
}

/** The reason for the verdict, without its word. */
export function verdictReason(report: Report): string {
  if (report.verdict === 'error') return report.notes[0] ?? 'the suite could not judge'
  if (report.clauses.length === 0) return 'no clause of the documents was selected'
  const { required, recommended, unspecified } = report.summary
  const known = knownFailures(report)
  const parts: string[] = []
  if (required.failed > 0) parts.push(`${required.failed} of ${requiredText(report)} failed`)
  // The word "Passed" says the rest.
  else parts.push(`${required.passed} of ${requiredText(report)}${report.verdict === 'passed' ? '' : ' passed'}`)
  if (known < required.failed) {
    if (known > 0) parts.push(`${known} of them as expected`)
    if (staleText(report) !== '') parts.push(`${staleText(report)} in the list of expected failures`)
  }
  if (required.untestable > 0) parts.push(`${required.untestable} could not be tested`)
  parts.push(...causesText(report))
  if (recommended.failed > 0) parts.push(`${plural(recommended.failed, 'recommendation')} not met`)
  if (unspecified.observed > 0) parts.push(`${plural(unspecified.observed, 'observation')} recorded`)
  return parts.join(', ')
}

/** The text behind the verdict's word: target, reason and duration. */
export function verdictText(report: Report): string {
  const [target, reason] = [targetName(report.target), verdictReason(report)]
  // The reason comes first, so that nobody takes a part for the whole.
  const text = report.verdict === 'passed' ? `${reason}, at ${target}` : `${target}, ${reason}`
  return `${text} (${seconds(report.durationMs)})`
}

/** A duration for a reader: `340 ms`, `4.2 s`. */
export function seconds(durationMs: number): string {
  return durationMs < 1000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1000).toFixed(1)} s`
}

/**
 * Keeps the head and the tail of a long text, and says how many characters are left out.
 *
 * @param limit characters to keep, at least 2
 */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text
  const head = Math.ceil((limit * 3) / 4)
  const tail = limit - head
  return `${text.slice(0, head)} … ${text.length - limit} characters left out … ${text.slice(text.length - tail)}`
}

/** Breaks a text at spaces so that no line is wider than `width`, and indents each line. A longer word stays whole. */
export function wrap(text: string, width: number, indent: string): string {
  return text
    .split('\n')
    .map((line) => {
      const lines: string[] = []
      let current = ''
      for (const word of line.split(' ')) {
        if (current !== '' && indent.length + current.length + 1 + word.length > width) {
          lines.push(current)
          current = word
        } else {
          current = current === '' ? word : `${current} ${word}`
        }
      }
      lines.push(current)
      return lines.map((part) => indent + part).join('\n')
    })
    .join('\n')
}

const jsonTokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * Lays JSON text out over lines without reading its values: a 256-bit integer or a doubled member stays as it was
 * sent. A text that is no JSON is returned as it is.
 */
export function indentJson(text: string): string {
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  const out: string[] = []
  let depth = 0
  let previous = ''
  const newline = () => out.push('\n', '  '.repeat(depth))
  for (const [token] of text.matchAll(jsonTokens)) {
    if (token === '}' || token === ']') {
      depth -= 1
      if (previous !== '{' && previous !== '[') newline()
    } else if (previous === '{' || previous === '[' || previous === ',') {
      newline()
    }
    out.push(token)
    if (token === '{' || token === '[') depth += 1
    if (token === ':') out.push(' ')
    previous = token
  }
  return out.join('')
}
