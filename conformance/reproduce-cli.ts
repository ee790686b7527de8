import { curlOf } from './lib/report/exchange-text.ts'
import { readReport } from './lib/report/files.ts'
import { statusSign } from './lib/report/words.ts'
import { visibleControls } from './lib/report/escape.ts'
import { UsageError } from './lib/outcome.ts'
import { allClauses } from './lib/verdict.ts'
import { runReportCommand, type Streams } from './report-command.ts'

const usage = `Usage: touchstone reproduce <report.json> <clause>

Prints each request that a clause was judged by as a curl command, with the answer that it got. Signatures are shortened in
reports and cannot be sent again: touchstone sign makes a new one.

Examples:
  touchstone check http://127.0.0.1:3000 --report json=report.json
  touchstone reproduce report.json eth-rpc.eth_gasPrice.success

Exit codes:
  0  printed
  2  wrong usage, no report, or a clause that the report does not have
`

async function reproduce(path: string, id: string): Promise<string> {
  const clause = allClauses(await readReport(path)).find((one) => one.id === id)
  if (!clause) throw new UsageError(`${path} has no clause ${id}`)
  const lines = [`# ${clause.id}: ${clause.status}`]
  for (const { title, status, error, reason, exchanges } of clause.tests) {
    lines.push('', `# ${statusSign[status]} ${title}`)
    const why = error?.message ?? reason
    if (why !== undefined) lines.push(`# ${why}`)
    for (const { request, response, failure } of exchanges) {
      lines.push('', curlOf(request))
      const answer = response ? `HTTP ${response.status} ${response.body.slice(0, 300)}` : failure?.message
      lines.push(`# -> ${answer ?? 'no answer'}`)
    }
    if (exchanges.length === 0) lines.push('# no request was made')
  }
  // A comment stays on one line, whatever the target has answered.
  return `${lines.map((line) => (line.startsWith('#') ? visibleControls(line.replaceAll('\n', ' ')) : line)).join('\n')}\n`
}

/**
 * The command `reproduce`.
 *
 * @param argv the arguments behind the word: a JSON report of `check`, and the id of a clause
 * @returns the exit code: 0, or 2 when there is nothing to print
 */
export function run(argv: readonly string[], streams: Streams = process): Promise<number> {
  return runReportCommand(
    {
      word: 'reproduce',
      usage,
      options: {},
      names: ['a report and one clause', 2],
      work: async ([path = '', id = ''], _values, stdout) => {
        stdout.write(await reproduce(path, id))
        return 0
      },
    },
    argv,
    streams,
  )
}
