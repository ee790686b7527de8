import { parseArgs } from 'node:util'
import { choicesIn } from './support/choices.ts'
import { runCrashTest } from './support/crash.ts'
import type { LedgerCheck } from './support/invariants.ts'
import { databaseKinds, startPostgres, type DatabaseKind } from './support/postgres.ts'
import { nodeKinds } from './support/processes.ts'
import { runSharingTest } from './support/sharing.ts'

const usage = `touchstone bench crash [--only kills,sharing] [--database pglite|postgresql] [--node hardhat|anvil]
                       [--kills 50] [--calls 500]

kills    a server under load is killed (SIGKILL) at random moments and started again each time
sharing  two servers, one PostgreSQL, the same signers; then the same again with one of them killed midway

Afterwards the ledger is compared with the chain: every acknowledged call mined exactly once, nothing else charged,
charges equal to the gas on the receipts, no gap in the nonces.
`

/**
 * The benchmark `crash`.
 *
 * @returns the exit code: 0 nothing was lost or doubled, 1 something was, 2 wrong usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: 'string', default: 'kills,sharing' },
      database: { type: 'string', default: 'pglite,postgresql' },
      node: { type: 'string', default: 'hardhat' },
      kills: { type: 'string', default: '50' },
      calls: { type: 'string', default: '500' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  const parts = choicesIn('--only', values.only, ['kills', 'sharing'])
  const databases = choicesIn('--database', values.database, databaseKinds)
  const nodes = choicesIn('--node', values.node, nodeKinds)
  const postgres = databases.includes('postgresql') ? await startPostgres() : undefined
  const databaseUrl = async (kind: DatabaseKind) =>
    kind === 'pglite' ? null : ((await postgres?.createDatabase()) ?? null)
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
      for (const kind of parts.includes('kills') ? databases : []) {
        const kills = Number(values.kills)
        const result = await runCrashTest({ node, databaseUrl: await databaseUrl(kind), kills, onProgress })
        report(`${kills} kills, ${kind}, ${node}`, result)
      }
      if (!parts.includes('sharing') || !postgres) continue
      const calls = Number(values.calls)
      for (const killAfter of [undefined, Math.floor(calls / 2)]) {
        const result = await runSharingTest({
          node,
          databaseUrl: await postgres.createDatabase(),
          calls,
          ...(killAfter !== undefined && { killAfter }),
        })
        report(`2 servers${killAfter === undefined ? '' : ', one killed midway'}, ${node}`, result)
      }
    }
  } finally {
    await postgres?.close()
  }
  return faults === 0 ? 0 : 1
}

/** Shown while one waits, and no part of the result. */
function onProgress(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${line}  `)
}

function row(name: string, result: LedgerCheck & { readonly acknowledged: number }): string {
  const { acknowledged, relays, attempts, transactions, gasUsed, charged, faults } = result
  return `| ${[name, acknowledged, relays, attempts, transactions, gasUsed, charged, faults.length].join(' | ')} |`
}
