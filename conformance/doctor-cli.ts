import { packageVersion } from '../specs/index.ts'
import { Command, CommanderError } from 'commander'
import { diagnose, type Finding } from './lib/diagnose.ts'
import { collectHeaders, parsePositiveInteger } from './lib/options.ts'
import { visibleControls } from './lib/report/escape.ts'
import { painter, type TextStream, wantsColour } from './lib/report/terminal.ts'
import { UsageError } from './lib/usage-error.ts'

interface Streams {
  readonly stdout: TextStream
  readonly stderr: TextStream
}

interface Flags {
  readonly rpcUrl?: string
  readonly header: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

const help = `
Examples:
  touchstone doctor http://127.0.0.1:3000
  touchstone doctor https://relay.example/api --rpc-url https://node.example

Exit codes:
  0  nothing stands in the way of a run
  1  something does
  2  wrong usage
`

const signs = { well: ['green', '✓'], note: ['yellow', '!'], wrong: ['red', '✗'] } as const

function createCommand({ stdout, stderr }: Streams): Command {
  return new Command('touchstone doctor')
    .description(
      'Looks at what a run of check depends on: whether the target answers, TLS, base path, CORS, clock and chain. Spends nothing.',
    )
    .argument('<relay-url>', 'the base URL of POST /execute and POST /quota')
    .option('--rpc-url <url>', "a node of the target's chain, to compare with")
    .option(
      '--header <name: value>',
      'a header for each request; its value is not shown; repeatable',
      collectHeaders,
      {},
    )
    .option('--timeout-ms <ms>', 'how long to wait for each answer', parsePositiveInteger, 3_000)
    .version(packageVersion())
    .addHelpText('after', help)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
    })
}

/**
 * The command `doctor`.
 *
 * @param argv the arguments behind the word: the URL that `check` would be given
 * @returns the exit code: 0 nothing stands in the way of a run, 1 something does, 2 wrong usage
 */
export async function run(argv: readonly string[], streams: Streams = process): Promise<number> {
  const command = createCommand(streams)
  let findings: readonly Finding[]
  try {
    command.parse([...argv], { from: 'user' })
    const { rpcUrl, header, timeoutMs } = command.opts<Flags>()
    const url = command.args[0] ?? ''
    findings = await diagnose({ url, headers: header, timeoutMs, ...(rpcUrl === undefined ? {} : { rpcUrl }) })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof UsageError)) throw error
    streams.stderr.write(`touchstone doctor: ${error.message}\n`)
    return 2
  }
  const paint = painter(wantsColour(streams.stdout, process.env))
  for (const { about, state, text } of findings) {
    const [colour, sign] = signs[state]
    streams.stdout.write(`${paint(colour, sign)} ${about.padEnd(10)} ${visibleControls(text)}\n`)
  }
  return findings.some(({ state }) => state === 'wrong') ? 1 : 0
}
