import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { loadConfig } from './config/load.ts'
import { redactConfig } from './config/redact.ts'
import { startFailure } from './start-failure.ts'
import { openTracing } from './telemetry/open-tracing.ts'
import { startServer } from './start.ts'

const usage = `Usage: touchstone serve --config <file> [--print-config]

Starts the reference server in front of an Ethereum node and runs until Ctrl-C or SIGTERM.

  --config <file>   JSON or YAML; environment variables TOUCHSTONE_… go over it (docs/configuration.md)
  --print-config    shows the effective configuration, secrets redacted, and exits
`

/**
 * The command `serve`.
 *
 * @returns the exit code: 0 stopped as asked, 2 wrong usage, configuration or plugin
 */
export async function run(argv: readonly string[]): Promise<number> {
  let options: { config?: string; 'print-config'?: boolean; help?: boolean }
  try {
    options = parseArgs({
      args: [...argv],
      options: { config: { type: 'string' }, 'print-config': { type: 'boolean' }, help: { type: 'boolean' } },
    }).values
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n${usage}`)
    return 2
  }
  if (options.help) {
    process.stdout.write(usage)
    return 0
  }
  // Keys come in the environment, and Node writes the environment into its diagnostic reports.
  process.report.excludeEnv = true
  try {
    const loaded = await loadConfig(options.config, process.env)
    if (options['print-config']) {
      process.stdout.write(`${JSON.stringify(redactConfig(loaded), null, 2)}\n`)
      return 0
    }
    const log = pino({ level: loaded.config.log.level })
    const tracing = await openTracing(process.env, log)
    try {
      const server = await startServer(loaded, { log, tracing })
      await stopSignal()
      await server.close()
    } finally {
      await tracing?.close()
    }
    return 0
  } catch (error) {
    const line = startFailure(error)
    if (line === undefined) throw error
    process.stderr.write(`${line}\n`)
    return 2
  }
}

/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP. Later ones change nothing: a terminal, or a supervisor, sends to the
 * whole group of processes, and whoever started this one hands the same signal on. A stop ends in time by itself.
 */
function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
  return promise
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
