import { parseArgs, type ParseArgsConfig } from 'node:util'
import { Untestable, UsageError } from './lib/outcome.ts'

/** Where a command writes. */
export interface Streams {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

type Options = NonNullable<ParseArgsConfig['options']>
type Values<Given extends Options> = ReturnType<typeof parseArgs<{ options: Given }>>['values']

/** A command that reads a report. */
interface ReportCommand<Given extends Options> {
  readonly word: string
  readonly usage: string
  readonly options: Given
  /** What the command line must name, such as "one report", and how many words that is. */
  readonly names: readonly [what: string, count: number]
  /** @returns the exit code */
  work(words: readonly string[], values: Values<Given>, stdout: Streams['stdout']): Promise<number>
}

/**
 * Runs a command that reads a report.
 *
 * @param argv the arguments behind the word
 * @returns the exit code: that of the work; 0 after the help; 2 for wrong usage, or a report that says too little
 */
export async function runReportCommand<Given extends Options>(
  { word, usage, options, names: [what, count], work }: ReportCommand<Given>,
  argv: readonly string[],
  { stdout, stderr }: Streams,
): Promise<number> {
  try {
    const help = { help: { type: 'boolean', short: 'h' } } as const
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: { ...options, ...help },
      allowPositionals: true,
    })
    if ('help' in values) {
      stdout.write(usage)
      return 0
    }
    if (positionals.length !== count) throw new UsageError(`name ${what}`)
    return await work(positionals, values, stdout)
  } catch (error) {
    const isTheirs =
      error instanceof UsageError ||
      error instanceof Untestable ||
      String((error as { code?: string }).code).startsWith('ERR_PARSE_ARGS')
    if (!isTheirs) throw error
    stderr.write(`touchstone ${word}: ${(error as Error).message}\n`)
    return 2
  }
}
