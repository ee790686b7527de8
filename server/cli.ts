import cluster from 'node:cluster'
import { parseArgs } from 'node:util'
import type { Logger } from 'pino'
import { loadConfig, type LoadedConfig, redactConfig } from './config/load.ts'
import { startFailure } from './core/errors.ts'
import { metricsOfAll, limitsOfWorker, superviseWorkers, tellListening } from './workers.ts'
import { createLog } from './telemetry/create-log.ts'
import { openTracing } from './telemetry/open-tracing.ts'

/** More have no cores to run on, and take more connections than PostgreSQL has. */
const MOST_WORKERS = 64

const usage = `Usage: touchstone serve --config <file> [--workers <number>] [--print-config]

Starts the reference server in front of an Ethereum node and runs until Ctrl-C or SIGTERM.

  --config <file>   JSON or YAML; environment variables TOUCHSTONE_… go over it (docs/configuration.md)
  --workers <number>  processes that share the port, from 1 to ${MOST_WORKERS}; more than one need PostgreSQL
  --print-config    shows the effective configuration, secrets redacted, and exits
`

/**
 * The command `serve`.
 *
 * @returns the exit code: 0 stopped as asked, 2 wrong usage, configuration or plugin
 */
export async function run(argv: readonly string[]): Promise<number> {
  let options: { config?: string; workers?: string; 'print-config'?: boolean; help?: boolean }
  try {
    options = parseArgs({
      args: [...argv],
      options: {
        config: { type: 'string' },
        workers: { type: 'string' },
        'print-config': { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }).values
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n${usage}`)
    return 2
  }
  if (options.help) {
    process.stdout.write(usage)
    return 0
  }
  const workers = Number(options.workers ?? 1)
  if (!Number.isInteger(workers) || workers < 1 || workers > MOST_WORKERS) {
    process.stderr.write(`--workers: a whole number from 1 to ${MOST_WORKERS}\n`)
    return 2
  }
  // Keys come in the environment, and Node writes the environment into its diagnostic reports.
  process.report.excludeEnv = true
  try {
    const loaded = await loadConfig(options.config, process.env)
    if (options['print-config']) {
      await assertStartable(loaded)
      process.stdout.write(`${JSON.stringify(redactConfig(loaded), null, 2)}\n`)
      return 0
    }
    const log = createLog(loaded.config.log.level)
    if (workers > 1 && loaded.secrets.databaseUrl === undefined) {
      process.stderr.write('--workers: several processes need PostgreSQL: set DATABASE_URL\n')
      return 2
    }
    if (workers > 1 && cluster.isPrimary) return await superviseWorkers({ count: workers, log, stopped: stopSignal() })
    await serve(loaded, workers, log)
    return 0
  } catch (error) {
    const line = startFailure(error)
    if (line === undefined) throw error
    process.stderr.write(`${line}\n`)
    return 2
  }
}

/** What is shown as in force must be what `serve` starts with. @throws PluginError, ConfigError */
async function assertStartable(loaded: LoadedConfig): Promise<void> {
  const [{ loadPlugins }, { createPlans }] = await Promise.all([
    import('./load-plugins.ts'),
    import('./services/quotas/plans.ts'),
  ])
  const { quotas } = await loadPlugins(loaded)
  createPlans(loaded.config.quota, quotas, {})
}

/** Serves until a signal comes. */
async function serve(loaded: LoadedConfig, workers: number, log: Logger): Promise<void> {
  // A thousand modules, which neither a mistake in the configuration nor the process above the workers needs.
  const { startServer } = await import('./start.ts')
  const tracing = await openTracing(process.env, log)
  const { config } = loaded
  const isWorker = workers > 1
  const own = isWorker ? { ...loaded, config: { ...config, limits: limitsOfWorker(config.limits, workers) } } : loaded
  try {
    const server = await startServer(own, { log, tracing, ...(isWorker && { metricsOfAll }) })
    if (isWorker) tellListening(server.url)
    else log.info({ url: server.url }, 'listening')
    await stopSignal()
    await server.close()
  } finally {
    await tracing?.close()
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
