import { parseArgs } from 'node:util'
import { choicesIn, numberOf } from '../parse-command.ts'
import { runCrashTest, runFreezeTest, runSharingTest } from '../../testbed/trials/servers.ts'
import type { LedgerCheck } from '../../testbed/trials/audit.ts'
import { databaseKinds, startPostgres, type DatabaseKind } from '../../testbed/postgres.ts'
import { nodeKinds } from '../../testbed/processes.ts'
import { runReorganisationTest } from '../../testbed/trials/reorganisations.ts'

const usage = `Usage: touchstone bench crash [--only kills,sharing,freezes,reorganisations] [--database pglite|postgresql]
                       [--node hardhat|anvil] [--kills 50] [--database-kills 10] [--calls 500] [--freezes 3]
                       [--reorganisations 20] [--bundles]

kills            a server under load is killed (SIGKILL) at random moments and started again each time; between, PostgreSQL
sharing          two servers, one PostgreSQL, the same signers; then the same again with one of them killed midway
freezes          three servers, one PostgreSQL; each in turn stands still (SIGSTOP) for 10 seconds, and goes on
reorganisations  four signers on a chain whose last 1 to 6 blocks are replaced again and again (anvil)
--bundles        calls share transactions, with one signer for kills and two for reorganisations; freezes are left out

Afterwards the chain and what the server tells by HTTP are compared: every acknowledged call executed exactly once, no other
twice, the quota spent equal to the gas on the receipts. Without reorganisations the ledger is compared with the chain, too.
`

const parts = ['kills', 'sharing', 'freezes', 'reorganisations'] as const
const FROZEN_MS = 10_000
const BUNDLING_WORKERS = 16

/**
 * The benchmark `crash`.
 *
 * @returns the exit code: 0 nothing was lost or doubled, 1 something was, 2 wrong usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  const values = flagsIn(argv)
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  const chosen = choicesIn('--only', values.only, parts)
  const databases = choicesIn('--database', values.database, databaseKinds)
  const nodes = choicesIn('--node', values.node, nodeKinds)
  const postgres = databases.includes('postgresql') ? await startPostgres() : undefined
  const databaseUrl = async (kind: DatabaseKind) =>
    kind === 'pglite' ? null : ((await postgres?.createDatabase()) ?? null)
  const { bundles } = values
  let faults = 0
  const report = (name: string, result: LedgerCheck & { readonly acknowledged: number }) => {
    faults += result.faults.length
    console.log(row(name, result))
    for (const fault of result.faults.slice(0, 10)) console.log(`  ${fault}`)
  }
  try {
    console.log('| what | acknowledged | relays | transactions | mined | gas on receipts | gas charged | faults |')
    console.log('|---|---|---|---|---|---|---|---|')
    for (const node of nodes) {
      for (const kind of chosen.includes('kills') ? databases : []) {
        const kills = numberOf(values, 'kills')
        const url = await databaseUrl(kind)
        const database =
          kind === 'postgresql' && postgres ? { postgres, kills: numberOf(values, 'database-kills') } : undefined
        const result = await runCrashTest({
          node,
          databaseUrl: url,
          kills,
          bundles,
          // Calls share a transaction only when several of them wait.
          ...(bundles && { workers: BUNDLING_WORKERS }),
          onProgress,
          ...(database && { database }),
        })
        report(`${kills} kills${database ? `, ${database.kills} of PostgreSQL` : ''}, ${kind}, ${node}`, result)
      }
      if (chosen.includes('freezes') && postgres && !bundles) {
        const freezes = numberOf(values, 'freezes')
        const databaseUrl = await postgres.createDatabase()
        const result = await runFreezeTest({ node, databaseUrl, freezes, frozenMs: FROZEN_MS })
        report(`3 servers, ${freezes} times one frozen, ${node}`, result)
      }
      if (!chosen.includes('sharing') || !postgres) continue
      const calls = numberOf(values, 'calls')
      for (const killAfter of [undefined, Math.floor(calls / 2)]) {
        const result = await runSharingTest({
          node,
          databaseUrl: await postgres.createDatabase(),
          calls,
          bundles,
          ...(killAfter !== undefined && { killAfter }),
        })
        report(`2 servers${killAfter === undefined ? '' : ', one killed midway'}, ${node}`, result)
      }
    }
    for (const kind of chosen.includes('reorganisations') ? databases : []) {
      const reorganisations = numberOf(values, 'reorganisations')
      const result = await runReorganisationTest({ databaseUrl: await databaseUrl(kind), reorganisations, bundles })
      const { executed: relays, transactions: attempts } = result
      report(`${reorganisations} reorganisations, ${kind}, anvil`, { ...result, relays, attempts })
    }
  } finally {
    await postgres?.close()
  }
  return faults === 0 ? 0 : 1
}

/** The options of the command line. */
function flagsIn(argv: readonly string[]) {
  return parseArgs({
    args: [...argv],
    options: {
      only: { type: 'string', default: parts.join() },
      database: { type: 'string', default: 'pglite,postgresql' },
      node: { type: 'string', default: 'hardhat' },
      kills: { type: 'string', default: '50' },
      'database-kills': { type: 'string', default: '10' },
      calls: { type: 'string', default: '500' },
      freezes: { type: 'string', default: '3' },
      reorganisations: { type: 'string', default: '20' },
      bundles: { type: 'boolean', default: false },
      help: { type: 'boolean' },
    },
  }).values
}

/** Prints the progress to standard error, because it is no part of the result. */
function onProgress(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${line}  `)
}

function row(name: string, result: LedgerCheck & { readonly acknowledged: number }): string {
  const { acknowledged, relays, attempts, transactions, gasUsed, charged, faults } = result
  return `| ${[name, acknowledged, relays, attempts, transactions, gasUsed, charged, faults.length].join(' | ')} |`
}
