import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { parseUnits } from 'ethers'
import { pino } from 'pino'
import { ConfigError, OperatorError, PluginError, startFailure } from './core/errors.ts'
import { readDatabaseUrl } from './config/environment.ts'
import { readConfig } from './config/load.ts'
import { loadPlugins } from './load-plugins.ts'
import { createUpstream } from './services/node/create-upstream.ts'
import { systemClock } from './services/clock.ts'
import { openDatabase, schemaOf } from './services/database/database.ts'
import { createRegistrations, type Registrations } from './services/ledger/accounts.ts'
import { runningRegistrations } from './services/ledger/registrations-socket.ts'
import { availableIn, planOf, type Account, createPlans, type Plans } from './services/quotas/plans.ts'
import { amountInUnit } from './services/quotas/models.ts'

interface Opened {
  readonly registrations: Registrations
  readonly plans: Plans
}

const WEI_DIGITS = 18

const description = 'Registers profiles with the reference server, also while it runs.'

/**
 * The command `profiles`: whom the server relays for, on what plan, with how much left.
 *
 * @returns the exit code: 0 done, 1 refused, 2 wrong usage or configuration
 */
export async function run(argv: readonly string[]): Promise<number> {
  const program = new Command('touchstone profiles')
    .description(description)
    .option('--config <file>', 'the configuration of the server')
    .option('--chain-id <id>', 'of the ledger; absent: the node is asked', chainIdOf)
    .option('--json', 'prints JSON')
    .exitOverride()

  const act =
    (does: (opened: Opened, ...values: string[]) => Promise<Account | Account[]>) =>
    async (...given: unknown[]): Promise<void> => {
      const flags = program.opts<Flags>()
      const values = given.filter((value) => typeof value === 'string')
      await withLedger(flags, async (opened) => {
        const result = await does(opened, ...values)
        process.stdout.write(flags.json ? asJson(result, opened.plans) : asText(result, opened.plans))
      })
    }
  program
    .command('list')
    .description('all profiles')
    .action(act(({ registrations }) => registrations.list()))
  program
    .command('show <address>')
    .description('one profile')
    .action(act(({ registrations }, address = '') => registrations.show(address)))
  program
    .command('add <address> [plan]')
    .description('relays for a profile, by default on the default plan')
    .action(act(({ registrations }, address = '', plan) => registrations.add(address, plan)))
  program
    .command('remove <address>')
    .description('relays for it no more; its account stays')
    .action(act(({ registrations }, address = '') => registrations.remove(address)))
  program
    .command('suspend <address>')
    .description('relays for it no more until resume, even where registration is open')
    .action(act(({ registrations }, address = '') => registrations.suspend(address)))
  program
    .command('resume <address>')
    .description('ends a suspension')
    .action(act(({ registrations }, address = '') => registrations.resume(address)))
  program
    .command('top-up <address> <amount>')
    .description('adds gas, LYX (such as 1.5) or a number of transactions, as its plan counts')
    .action(act(({ registrations, plans }, address = '', amount = '') => topUp(registrations, plans, address, amount)))
  program
    .command('move <address> <plan>')
    .description('begins anew on another plan')
    .action(act(({ registrations }, address = '', plan = '') => registrations.move(address, plan)))

  try {
    await program.parseAsync([...argv], { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    return failure(error)
  }
}

interface Flags {
  readonly config?: string
  readonly chainId?: bigint
  readonly json?: boolean
}

/** @throws InvalidArgumentError */
function chainIdOf(text: string): bigint {
  if (!/^(?:[1-9]\d*|0x[1-9a-f][\da-f]*)$/i.test(text))
    throw new InvalidArgumentError('A chain has a number, such as 42.')
  return BigInt(text)
}

async function withLedger({ config: file, chainId }: Flags, work: (opened: Opened) => Promise<void>): Promise<void> {
  const loaded = await readConfig(file, process.env)
  const { config } = loaded
  const faults: string[] = []
  const url = readDatabaseUrl(process.env, faults) ?? null
  if (faults.length > 0) throw new ConfigError(faults)
  if (url === null && config.database.folder === null) {
    throw new ConfigError(['database.folder is null: the ledger is in the memory of the server alone'])
  }
  const registry = await loadPlugins(loaded)
  const log = pino({ level: 'silent' })
  const upstream = createUpstream({ ...config.chain, log })
  try {
    const id = chainId ?? BigInt(await upstream.request<string>('eth_chainId', []))
    const plans = createPlans(config.quota, registry.quotas, { clock: systemClock, upstream })
    await withRegistrations({ url, folder: config.database.folder, chainId: id, plans }, (registrations) =>
      work({ registrations, plans }),
    )
  } finally {
    await upstream.close()
  }
}

interface Ledger {
  /** Of a PostgreSQL server. */
  readonly url: string | null
  /** Of the embedded database. */
  readonly folder: string | null
  readonly chainId: bigint
  readonly plans: Plans
}

/** By the process that has the embedded database, or else in the database itself. */
async function withRegistrations(
  { url, folder, chainId, plans }: Ledger,
  work: (registrations: Registrations) => Promise<void>,
): Promise<void> {
  const running = url === null && folder !== null ? await runningRegistrations(folder, chainId) : undefined
  if (running) return work(running)
  const database = await openDatabase({ url, folder, schema: schemaOf(chainId), poolSize: 1 })
  try {
    await work(createRegistrations({ db: database.db, plans, clock: systemClock }))
  } finally {
    await database.close()
  }
}

async function topUp(registrations: Registrations, plans: Plans, address: string, amount: string): Promise<Account> {
  const { unit } = planOf(await registrations.show(address), plans)
  let exact: bigint
  try {
    exact = parseUnits(amount, unit === 'lyx' ? WEI_DIGITS : 0)
  } catch {
    exact = 0n
  }
  if (exact <= 0n) throw new OperatorError(`'${amount}' is no amount of ${unit}`)
  return registrations.topUp(address, exact)
}

function describe(account: Account, plans: Plans) {
  const { unit } = planOf(account, plans)
  return {
    address: account.profile,
    state: account.suspended ? 'suspended' : account.registered ? 'registered' : 'not registered',
    plan: account.plan,
    unit,
    available: amountInUnit(availableIn(account), unit),
    allowance: amountInUnit(account.allowance, unit),
    resetAt: account.resetAtSeconds === null ? null : new Date(Number(account.resetAtSeconds) * 1000).toISOString(),
    slowedUntil: account.slowedUntil * 1000 > Date.now() ? new Date(account.slowedUntil * 1000).toISOString() : null,
  }
}

function asJson(result: Account | Account[], plans: Plans): string {
  const shown = Array.isArray(result) ? result.map((account) => describe(account, plans)) : describe(result, plans)
  return `${JSON.stringify(shown, null, 2)}\n`
}

function asText(result: Account | Account[], plans: Plans): string {
  const rows = (Array.isArray(result) ? result : [result]).map((account) => {
    const { address, state, plan, unit, available, allowance, resetAt, slowedUntil } = describe(account, plans)
    const reset = resetAt === null ? '' : `, resets ${resetAt}`
    const slowed = slowedUntil === null ? '' : `, slowed until ${slowedUntil}`
    return `${address}  ${state}  ${plan}  ${available} of ${allowance} ${unit} left${reset}${slowed}\n`
  })
  return rows.length === 0 ? 'no profiles\n' : rows.join('')
}

/** What a person can mend is one line; everything else is our own fault. */
function failure(error: unknown): number {
  if (error instanceof ConfigError || error instanceof PluginError) {
    process.stderr.write(`${error.message}\n`)
    return 2
  }
  const line = startFailure(error)
  if (line === undefined) throw error
  process.stderr.write(`${line}\n`)
  return 1
}
