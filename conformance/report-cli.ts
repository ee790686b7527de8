import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Command, CommanderError } from 'commander'
import type { Report } from './lib/report-types.ts'
import { type BadgeFormat, badgeFormats, badgeRenderers } from './lib/report/ci.ts'
import { compareReports, type Comparison, type NamedReport } from './lib/report/compare.ts'
import {
  type Output,
  parseOutput,
  readReport,
  reportFormats,
  reportRenderers,
  writeFolder,
  writeOutput,
} from './lib/report/files.ts'
import { compareHtml } from './lib/report/html/comparison.ts'
import { renderSite } from './lib/report/html/site.ts'
import { compareMarkdown } from './lib/report/markdown.ts'
import { compareTerminal, renderTerminal, type TextStream, wantsColour } from './lib/report/terminal.ts'
import { targetName } from './lib/report/words.ts'
import { UsageError } from './lib/outcome.ts'

export interface ReportCliStreams {
  readonly stdout: TextStream
  readonly stderr: TextStream
}

const compareRenderers = { html: compareHtml, markdown: compareMarkdown } as const
const compareFormats = Object.keys(compareRenderers) as (keyof typeof compareRenderers)[]

/** Names each report by its target, or by its file where two reports have the same target. */
function named(reports: readonly { path: string; report: Report }[]): NamedReport[] {
  const targets = reports.map(({ report }) => targetName(report.target))
  const distinct = new Set(targets).size === targets.length
  return reports.map(({ path, report }, index) => ({ name: distinct ? (targets[index] ?? path) : path, report }))
}

interface Flags {
  readonly report: readonly string[]
  readonly badge: readonly Output<BadgeFormat>[]
  readonly site?: string
  readonly quiet?: true
  readonly verbose?: true
}

/** @throws UsageError */
async function show<Format extends string>(
  texts: Readonly<Record<Format, () => string>>,
  terminal: () => string,
  { report, badge }: Flags,
  stdout: TextStream,
): Promise<void> {
  const outputs = report.map((argument) => parseOutput(argument, Object.keys(texts) as Format[]))
  for (const { format, path } of outputs) await writeOutput(texts[format](), path, stdout)
  if (![...outputs, ...badge].some(({ path }) => path === '-')) stdout.write(terminal())
}

async function report(paths: readonly string[], flags: Flags, { stdout }: ReportCliStreams) {
  if (flags.quiet && flags.verbose) throw new UsageError('--quiet and --verbose exclude each other')
  const files = (await Promise.all(paths.map(reportsAt))).flat()
  const reports = await Promise.all(files.map(async (path) => ({ path, report: await readReport(path) })))
  if (flags.site !== undefined) {
    const site = renderSite(reports.map(({ report }) => report))
    await writeFolder(site, flags.site)
    stdout.write(`${join(flags.site, 'index.html')} and ${site.size - 1} more pages of ${reports.length} reports\n`)
    if (flags.report.length === 0 && flags.badge.length === 0) return
  }
  const colour = wantsColour(stdout, process.env)
  const options = { colour, ...(stdout.columns ? { width: stdout.columns } : {}) }
  const [only] = reports
  if (reports.length === 1 && only) {
    for (const { format, path } of flags.badge) await writeOutput(badgeRenderers[format](only.report), path, stdout)
    const texts = Object.fromEntries(
      reportFormats.map((format) => [format, () => reportRenderers[format](only.report)]),
    ) as Record<(typeof reportFormats)[number], () => string>
    return show(
      texts,
      () => renderTerminal(only.report, { ...options, quiet: flags.quiet ?? false, verbose: flags.verbose ?? false }),
      flags,
      stdout,
    )
  }
  if (flags.badge.length > 0) throw new UsageError('--badge takes one result')
  const comparison: Comparison = compareReports(named(reports))
  const texts = Object.fromEntries(
    compareFormats.map((format) => [format, () => compareRenderers[format](comparison)]),
  ) as Record<(typeof compareFormats)[number], () => string>
  return show(texts, () => compareTerminal(comparison, options), flags, stdout)
}

/** A report, or all in a folder. @throws UsageError for a folder without one */
async function reportsAt(path: string): Promise<string[]> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    // What is no folder, or is not there: readReport says what is wrong.
    if (error.code === 'ENOTDIR' || error.code === 'ENOENT') return undefined
    throw new UsageError(`${path} cannot be read (${error.code ?? 'unknown'})`)
  })
  if (names === undefined) return [path]
  const reports = names.filter((name) => name.endsWith('.json')).sort()
  if (reports.length === 0) throw new UsageError(`${path} holds no report: a folder of .json files is expected`)
  return reports.map((name) => join(path, name))
}

/**
 * `touchstone report`: renders JSON reports of earlier runs, one target or several side by side.
 *
 * @param argv arguments after the command's name
 * @returns the exit code: 0 shown, 2 wrong usage or unreadable file
 */
export async function run(argv: readonly string[], streams: ReportCliStreams = process): Promise<number> {
  const command = new Command('touchstone report')
    .description('Renders JSON reports of check: one report, or several side by side, differences first.')
    .argument('<result.json...>', 'a file that check wrote with --report json=<file>, or a folder of such files')
    .option(
      '--report <format=file>',
      'html=, markdown=, and for one result junit= or json=; repeatable; - is standard output',
      (value: string, before: string[]) => [...before, value],
      [] as string[],
    )
    .option(
      '--badge <format=file>',
      `of one result, a badge with its verdict: ${badgeFormats.join(', ')}; repeatable`,
      (value: string, before: Output<BadgeFormat>[]) => [...before, parseOutput(value, badgeFormats, '--badge')],
      [] as Output<BadgeFormat>[],
    )
    .option('--site <folder>', 'writes a static site: relays, their history, what changed, a page for each clause')
    .option('--quiet', 'show only failures and the verdict')
    .option('--verbose', 'also show observations and transactions')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void streams.stdout.write(text),
      writeErr: (text) => void streams.stderr.write(text),
    })
    .action((paths: string[], flags: Flags) => report(paths, flags, streams))
  try {
    await command.parseAsync([...argv], { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof UsageError)) throw error
    streams.stderr.write(`${error.message}\n`)
    return 2
  }
}
