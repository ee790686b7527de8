import { keccak256, toQuantity, toUtf8Bytes } from 'ethers'
import { sql } from 'kysely'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase, schemaOf } from '../../../server/services/database/database.ts'
import { signerFromKey } from '../../../server/services/signers/signers.ts'
import { type Aim, median } from '../support/figures.ts'
import { runLoad } from '../support/load.ts'
import { startNode, startServerProcess, type Started } from '../../../testbed/processes.ts'
import {
  createPoster,
  provisionWorld,
  signedCall,
  type RelayWorld,
  createRpcClient,
} from '../../../testbed/relay-world.ts'

const WORKERS = 20
/** Rows of one statement, which the server's time limit for statements has to allow. */
const SEEDED_TOGETHER = 20_000
const MOST = 1.2

export interface GrowthOptions {
  readonly calls: number
  readonly rounds: number
  /** The number of settled relays in the grown ledger. */
  readonly pastRelays: number
  /** The number of profiles to which these relays belong. */
  readonly profiles: number
  /** The number of accounts of each server. Both have the same number, so that only the ledgers differ. */
  readonly signers: number
  /** A PostgreSQL database for each server; absent: the embedded one. */
  readonly createDatabase?: () => Promise<string>
}

/** Compares the time of a relay in a grown ledger with that in an empty ledger. Both are measured in turn. */
export async function measureGrowth(options: GrowthOptions): Promise<Aim[]> {
  const { calls, rounds, pastRelays, profiles, signers, createDatabase } = options
  const folder = await mkdtemp(join(tmpdir(), 'touchstone-growth-'))
  const node = await startNode('hardhat')
  const running: Started[] = []
  try {
    const world = await provisionWorld(node.url)
    const start = async (name: string, isGrown: boolean) => {
      const place = createDatabase ? { url: await createDatabase() } : { url: null, folder: join(folder, name) }
      if (isGrown) await seed(world, place, options)
      const server = await startServerProcess({
        rpcUrl: node.url,
        // Each ledger has accounts of its own, because two ledgers cannot share one.
        signerKeys: await fundedKeys(world, name, signers),
        ...(place.folder !== undefined && { config: { database: { folder: place.folder } } }),
        ...(place.url !== null && { databaseUrl: place.url }),
      })
      running.push(server)
      return server.url
    }
    const empty = await start('empty', false)
    const grown = await start('grown', true)
    const ratios: number[] = []
    const database = createDatabase ? 'PostgreSQL' : 'PGlite'
    const ledger = `${pastRelays} relays of ${profiles} profiles more`
    console.log(`\n${database}, ${signers} signers each\n`)
    console.log(`| round | past relays | ms per relay | with ${ledger}: ms per relay | ratio |`)
    console.log('|---|---|---|---|---|')
    // The first round warms up both servers.
    for (let round = 0; round <= rounds; round++) {
      const emptyMs = await msPerRelay(world, empty, calls, round * 2)
      const grownMs = await msPerRelay(world, grown, calls, round * 2 + 1)
      if (round === 0) continue
      ratios.push(grownMs / emptyMs)
      const figures = [emptyMs, grownMs, grownMs / emptyMs].map((figure) => figure.toFixed(2)).join(' | ')
      console.log(`| ${round} | ${calls * round} | ${figures} |`)
    }
    return [{ name: `${database}: cost per relay with ${ledger}, median`, value: median(ratios), atMost: MOST }]
  } finally {
    for (const server of running) await server.close()
    await node.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Private keys of accounts with native coin. The same name gives the same keys. */
async function fundedKeys({ rpcUrl }: RelayWorld, name: string, count: number): Promise<string[]> {
  const node = createRpcClient(rpcUrl, 1)
  const keys = Array.from({ length: count }, (_, index) => keccak256(toUtf8Bytes(`growth ${name} ${index}`)))
  for (const key of keys) await node.call('hardhat_setBalance', signerFromKey(key).address, toQuantity(10n ** 18n))
  await node.close()
  return keys
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

/** Inserts settled relays of another signer. They are as long as real ones, and belong to the world's and other profiles in turn. */
async function seed(
  { chainId, fixture }: RelayWorld,
  place: { readonly url: string | null; readonly folder?: string },
  { pastRelays, profiles }: GrowthOptions,
): Promise<void> {
  const schema = schemaOf(BigInt(chainId))
  const database = await openDatabase({ url: place.url, folder: place.folder ?? null, schema, poolSize: 1 })
  const { address, keyManager } = fixture.profile
  const account = `0x${'5e'.repeat(20)}`
  /** 32 bytes that differ from row to row, hex. */
  const bytes = (name: string) => sql`encode(sha256(convert_to(${name}::text || i, 'UTF8')), 'hex')`
  const long = (
    name: string,
  ) => sql`(select '0x' || string_agg(encode(sha256(convert_to(${name}::text || i || j, 'UTF8')), 'hex'), '')
    from generate_series(1, 16) as j)`
  const profile = sql`case when i % ${profiles}::integer = 0 then ${address}
    else '0x' || lpad(to_hex(i % ${profiles}::integer), 40, '0') end`
  const seedRows = async (first: number, last: number) => {
    const rows = sql`generate_series(${first}::integer, ${last}::integer) as i`
    await sql`
      insert into relays (hash, identity, profile, key_manager, signer, nonce, status, plan, period, reserved,
        charged, gas_limit, account, account_nonce, mined_hash, block_number, block_hash, gas_used, final, created_at_ms)
      select '0x' || ${bytes('hash')}, '0x' || ${bytes('identity')}, ${profile}, ${keyManager}, ${account},
        i * 2::numeric ^ 128, 'succeeded', 'default', 0, 100000, 90000, 110000, ${account}, i,
        '0x' || ${bytes('hash')}, i, '0x' || ${bytes('block')}, 90000, true, 1700000000000 + i * 1000
      from ${rows}`.execute(database.db)
    await sql`
      insert into attempts (hash, relay, kind, account, account_nonce, raw, max_fee_per_gas, max_priority_fee_per_gas,
        created_at_ms)
      select '0x' || ${bytes('hash')}, '0x' || ${bytes('hash')}, 'call', ${account}, i, ${long('raw')}, 3000000000,
        1000000000, 1700000000000 + i * 1000
      from ${rows}`.execute(database.db)
  }
  try {
    await sql`
      insert into profiles (address, registered, plan, allowance, used, reset_at)
      select '0x' || lpad(to_hex(i), 40, '0'), false, 'default', ${Number.MAX_SAFE_INTEGER}, 90000, null
      from generate_series(1, ${profiles - 1}::integer) as i`.execute(database.db)
    for (let first = 1; first <= pastRelays; first += SEEDED_TOGETHER) {
      await seedRows(first, Math.min(first + SEEDED_TOGETHER - 1, pastRelays))
    }
    // The planner gets statistics, as it has them for tables that have grown over months.
    await sql`analyze`.execute(database.db)
  } finally {
    await database.close()
  }
}
