import { run } from '../../conformance/cli.ts'

/** The outcome of one run of the command `check`. */
export interface SuiteOutcome {
  readonly exitCode: number
  /** What it wrote to standard error. */
  readonly errors: string
}

// The program that `run-suite.ts` forks: each message is the arguments of one `check`, run one after the other.
process.on('message', (args: string[]) => {
  let errors = ''
  const stdout = { write: () => true }
  const stderr = { write: (text: string) => Boolean((errors += text)) }
  run(args, {}, { stdout, stderr }).then(
    (exitCode) => process.send?.({ exitCode, errors } satisfies SuiteOutcome),
    (error: unknown) => process.send?.({ exitCode: 2, errors: String(error) } satisfies SuiteOutcome),
  )
})
// The process that forked this one has closed the channel.
process.on('disconnect', () => process.exit())
