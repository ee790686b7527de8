import { sql } from 'kysely'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase, schemaOf } from '../../../server/services/database/database.ts'
import type { Aim } from '../support/aim.ts'
import { runLoad } from '../support/load.ts'
import { startNode, startServerProcess, type Started } from '../../../testbed/processes.ts'
import { createPoster, provisionWorld, signedCall, type RelayWorld } from '../../../testbed/relay-world.ts'
import { median } from '../support/statistics.ts'

const PAST_RELAYS = 100_000
const WORKERS = 20
const MOST = 1.2

export interface GrowthOptions {
  readonly calls: number
  readonly rounds: number
}

/** The cost of a relay with many past ones in the ledger, over that in an empty ledger; the two take turns. */
export async function measureGrowth({ calls, rounds }: GrowthOptions): Promise<Aim[]> {
  const folder = await mkdtemp(join(tmpdir(), 'touchstone-growth-'))
  const node = await startNode('hardhat')
  const running: Started[] = []
  try {
    const world = await provisionWorld(node.url)
    await seed(world, join(folder, 'full'))
    // Accounts of their own: two ledgers cannot share any.
    const [one = '', two = '', three = '', four = ''] = world.signerKeys
    const start = async (name: string, signerKeys: string[]) => {
      const config = { database: { folder: join(folder, name) } }
      const server = await startServerProcess({ rpcUrl: node.url, signerKeys, config })
      running.push(server)
      return server.url
    }
    const empty = await start('empty', [one, two])
    const full = await start('full', [three, four])
    const ratios: number[] = []
    console.log(`\n| round | past relays | ms per relay | with ${PAST_RELAYS} more: ms per relay | ratio |`)
    console.log('|---|---|---|---|---|')
    // A first round warms up both alike.
    for (let round = 0; round <= rounds; round++) {
      const emptyMs = await msPerRelay(world, empty, calls, round * 2)
      const fullMs = await msPerRelay(world, full, calls, round * 2 + 1)
      if (round === 0) continue
      ratios.push(fullMs / emptyMs)
      console.log(
        `| ${round} | ${calls * round} | ${emptyMs.toFixed(2)} | ${fullMs.toFixed(2)} | ${(fullMs / emptyMs).toFixed(2)} |`,
      )
    }
    return [{ name: `cost per relay with ${PAST_RELAYS} past ones, median`, value: median(ratios), atMost: MOST }]
  } finally {
    for (const server of running) await server.close()
    await node.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function msPerRelay(world: RelayWorld, url: string, calls: number, round: number): Promise<number> {
  const relay = createPoster(url, WORKERS)
  const bodies = Array.from(
    { length: calls },
    (_, index) => signedCall(world, BigInt(round * 100_000 + index), 0n).body,
  )
  const { seconds, done, failures } = await runLoad({ workers: WORKERS, tasks: calls }, async () => {
    await relay.execute(bodies.pop() ?? '')
  })
  await relay.close()
  for (const reason of Object.keys(failures)) throw new Error(reason)
  return (seconds * 1000) / done
}

/** Past relays of another signer on the same profile, as long as real ones, all final. */
async function seed({ chainId, fixture }: RelayWorld, folder: string): Promise<void> {
  const database = await openDatabase({ url: null, folder, schema: schemaOf(BigInt(chainId)), poolSize: 1 })
  const { address, keyManager } = fixture.profile
  const account = `0x${'5e'.repeat(20)}`
  /** 32 bytes that differ from row to row, hex. */
  const bytes = (name: string) => sql`encode(sha256(convert_to(${name}::text || i, 'UTF8')), 'hex')`
  const long = (
    name: string,
  ) => sql`(select '0x' || string_agg(encode(sha256(convert_to(${name}::text || i || j, 'UTF8')), 'hex'), '')
    from generate_series(1, 16) as j)`
  const rows = sql`generate_series(1, ${PAST_RELAYS}::integer) as i`
  try {
    await sql`
      insert into relays (hash, identity, profile, key_manager, signer, nonce, status, plan, period, reserved,
        charged, gas_limit, account, account_nonce, mined_hash, block_number, block_hash, gas_used, final, created_at_ms)
      select '0x' || ${bytes('hash')}, '0x' || ${bytes('identity')}, ${address}, ${keyManager}, ${account},
        i * 2::numeric ^ 128, 'succeeded', 'default', 0, 100000, 90000, 110000, ${account}, i,
        '0x' || ${bytes('hash')}, i, '0x' || ${bytes('block')}, 90000, true, 1700000000000 + i * 1000
      from ${rows}`.execute(database.db)
    await sql`
      insert into attempts (hash, relay, kind, account, account_nonce, raw, max_fee_per_gas, max_priority_fee_per_gas,
        created_at_ms)
      select '0x' || ${bytes('hash')}, '0x' || ${bytes('hash')}, 'call', ${account}, i, ${long('raw')}, 3000000000,
        1000000000, 1700000000000 + i * 1000
      from ${rows}`.execute(database.db)
  } finally {
    await database.close()
  }
}
