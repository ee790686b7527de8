import { getAddress } from 'ethers'
import { sql } from 'kysely'
import { bundleResults, decodeBundle } from '../../contracts/deploy/bundler.ts'
import { keyManagerInterface } from '../../contracts/deploy/profile.ts'
import { openDatabase, schemaOf, type Queries } from '../../server/services/database/database.ts'
import type { Acknowledged } from './callers.ts'
import { type RelayWorld, createPoster } from '../relay-world.ts'
import { signQuota } from '../../contracts/lsp25.ts'

/** The comparison of a ledger with its chain, when no call is under way any more. */
export interface LedgerCheck {
  /** Every fault in a line; none: all is well. */
  readonly faults: readonly string[]
  readonly relays: number
  /** Transactions that were signed for the relays. */
  readonly attempts: number
  /** Transactions of the signers on the chain. */
  readonly transactions: number
  readonly gasUsed: bigint
  readonly charged: bigint
}

export interface LedgerLocation {
  readonly url: string | null
  readonly folder: string | null
}

/**
 * Compares the ledger with the chain. Every acknowledged call is mined exactly once and with success, the nonces have no gap,
 * the charges equal the gas on the receipts, and nothing is reserved any more.
 *
 * @param acknowledged the calls that the relay accepted, as the callers know them
 */
export async function checkLedger(
  world: RelayWorld,
  location: LedgerLocation,
  acknowledged: readonly Acknowledged[],
): Promise<LedgerCheck> {
  const database = await openDatabase({ ...location, schema: schemaOf(BigInt(world.chainId)), poolSize: 2 })
  try {
    return await check(world, database.db, acknowledged)
  } finally {
    await database.close()
  }
}

async function check(world: RelayWorld, db: Queries, acknowledged: readonly Acknowledged[]): Promise<LedgerCheck> {
  const faults: string[] = []
  const relays = await db.selectFrom('relays').selectAll().execute()
  const attempts = await db.selectFrom('attempts').select(['hash', 'relay', 'kind']).execute()
  const byHash = new Map(attempts.map((attempt) => [attempt.hash, attempt]))
  // The calls of a bundle share its hash, so their nonces tell them apart.
  const nameOf = (transaction: string, nonce: bigint) => `${transaction} ${nonce}`
  const relayByName = new Map(relays.map((one) => [nameOf(one.bundle ?? one.hash, BigInt(one.nonce)), one]))

  for (const { hash, nonce } of acknowledged) {
    const relay = relayByName.get(nameOf(byHash.get(hash)?.relay ?? '', nonce))
    if (!relay) faults.push(`acknowledged ${hash} is lost`)
    else if (relay.status !== 'succeeded') faults.push(`acknowledged ${hash} is ${relay.status}`)
  }
  for (const { hash, status, final } of relays) {
    if (status === 'pending' || !final) faults.push(`${hash} is ${status}, final ${final}`)
  }

  const seenCalls = new Map<string, number>()
  let gasUsed = 0n
  const transactions = await minedTransactions(world)
  for (const transaction of transactions) {
    const attempt = byHash.get(transaction.hash)
    if (!attempt) faults.push(`the ledger does not know ${transaction.hash}`)
    gasUsed += BigInt(transaction.receipt.gasUsed)
    for (const nonce of executedBy(transaction)) {
      const relay = relayByName.get(nameOf(attempt?.relay ?? '', nonce))
      if (!relay) faults.push(`${transaction.hash} executes a call that the ledger does not know: ${nonce}`)
      else seenCalls.set(relay.hash, (seenCalls.get(relay.hash) ?? 0) + 1)
    }
  }
  for (const { hash, status } of relays) {
    const times = seenCalls.get(hash) ?? 0
    if (times !== (status === 'succeeded' ? 1 : 0)) faults.push(`${hash} is ${status} and executed ${times} times`)
  }

  const signers = await db.selectFrom('signer_accounts').selectAll().execute()
  for (const { address, next_nonce } of signers) {
    const count = Number(await rpc<string>(world, 'eth_getTransactionCount', [address, 'latest']))
    if (count !== Number(next_nonce)) faults.push(`${address} is at ${count} on the chain, at ${next_nonce} here`)
  }

  const charged = relays.reduce((sum, relay) => sum + BigInt(relay.charged ?? 0), 0n)
  if (charged !== gasUsed) faults.push(`charged ${charged}, but the receipts say ${gasUsed}`)
  const { used } = await db
    .selectFrom('profiles')
    .select(sql<string>`coalesce(sum(used), 0)`.as('used'))
    .executeTakeFirstOrThrow()
  if (BigInt(used) !== charged) faults.push(`the accounts say ${used}, the relays ${charged}`)
  return {
    faults,
    relays: relays.length,
    attempts: attempts.length,
    transactions: transactions.length,
    gasUsed,
    charged,
  }
}

/** Waits until the relay has no pending call. @throws Error when it has one at the deadline */
export async function waitUntilSettled(relayUrl: string, deadlineMs: number): Promise<void> {
  const end = performance.now() + deadlineMs
  for (;;) {
    const metrics = await (await fetch(`${relayUrl}/metrics`)).text()
    const pending = /^touchstone_relays_last_day\{status="pending"\} (\d+)$/m.exec(metrics)?.[1]
    if (pending === '0') return
    if (performance.now() > end) throw new Error(`${pending ?? 'nobody knows how many'} relays are still pending`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

interface Receipt {
  readonly status: string
  readonly gasUsed: string
  readonly logs: readonly { readonly address: string; readonly topics: readonly string[]; readonly data: string }[]
}

/** A transaction as the chain has it. */
export interface MinedTransaction {
  readonly hash: string
  readonly to: string
  readonly input: string
  readonly receipt: Receipt
}

/** The nonces of the relay calls that a transaction has executed. A bundle executes several. */
function executedBy({ to, input, receipt }: MinedTransaction): bigint[] {
  if (receipt.status !== '0x1') return []
  const bundle = decodeBundle(input)
  const results = bundle && bundleResults(receipt, getAddress(to))
  const executed = bundle ? bundle.filter((_, index) => results?.[index]?.success) : [{ data: input }]
  return executed.flatMap(({ data }) => {
    const call = keyManagerInterface.parseTransaction({ data })
    return call ? [call.args.getValue('nonce') as bigint] : []
  })
}

/** All transactions on the chain that the relayer's accounts have sent. */
async function minedTransactions(world: RelayWorld, firstBlock = 0): Promise<MinedTransaction[]> {
  const signers = new Set(world.signers.map((address) => address.toLowerCase()))
  const last = Number(await rpc<string>(world, 'eth_blockNumber', []))
  const found: MinedTransaction[] = []
  for (let number = firstBlock; number <= last; number++) {
    const block = await rpc<{ transactions: { hash: string; from: string; to: string; input: string }[] } | null>(
      world,
      'eth_getBlockByNumber',
      [`0x${number.toString(16)}`, true],
    )
    if (block === null) throw new Error(`the node has no block ${number} of ${last}`)
    for (const { hash, from, to, input } of block.transactions) {
      if (!signers.has(from.toLowerCase())) continue
      found.push({ hash, to, input, receipt: await rpc<Receipt>(world, 'eth_getTransactionReceipt', [hash]) })
    }
  }
  return found
}

async function rpc<Result>({ rpcUrl }: RelayWorld, method: string, params: unknown[]): Promise<Result> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result: Result; error?: { message: string } }
  if (error) throw new Error(error.message)
  return result
}

export interface OutsideAudit {
  /** Every fault in a line; none: all is well. */
  readonly faults: readonly string[]
  /** Relay calls that the chain has executed. */
  readonly executed: number
  /** Transactions of the relayer's accounts on the chain. */
  readonly transactions: number
  /** Gas on the receipts of these transactions. */
  readonly gasUsed: bigint
  /** The quota that is spent, by the answer of `POST /quota`. */
  readonly charged: bigint
}

/**
 * Audits a relay by the chain and by HTTP, when no call is under way any more, without its ledger. Every acknowledged call is
 * executed exactly once and reported as succeeded, no call is executed twice, no transaction has reverted, and the spent
 * quota equals the gas on the receipts.
 *
 * @param afterBlock the last block before the relay began; the audit begins with the block after it
 */
export async function auditFromOutside(
  world: RelayWorld,
  relayUrl: string,
  acknowledged: readonly Acknowledged[],
  afterBlock = -1,
): Promise<OutsideAudit> {
  const faults: string[] = []
  const executed = new Map<bigint, number>()
  let gasUsed = 0n
  const transactions = await minedTransactions(world, afterBlock + 1)
  for (const transaction of transactions) {
    const { hash, receipt } = transaction
    gasUsed += BigInt(receipt.gasUsed)
    if (receipt.status !== '0x1') faults.push(`${hash} has reverted`)
    for (const nonce of executedBy(transaction)) executed.set(nonce, (executed.get(nonce) ?? 0) + 1)
  }
  for (const [nonce, times] of executed) {
    if (times > 1) faults.push(`the call with nonce ${nonce} is executed ${times} times`)
  }
  for (const { hash, nonce } of acknowledged) {
    if (!executed.has(nonce)) faults.push(`acknowledged ${hash} with nonce ${nonce} is not executed`)
    const told = (await (await fetch(`${relayUrl}/transactions/${hash}?nonce=${nonce}`)).json()) as { status?: string }
    if (told.status !== 'succeeded') faults.push(`acknowledged ${hash} is told as ${JSON.stringify(told)}`)
  }
  const charged = await quotaSpent(world, relayUrl)
  if (charged !== gasUsed) faults.push(`the quota says ${charged}, the receipts say ${gasUsed}`)
  return { faults, executed: executed.size, transactions: transactions.length, gasUsed, charged }
}

async function quotaSpent({ fixture }: RelayWorld, relayUrl: string): Promise<bigint> {
  const poster = createPoster(relayUrl, 1)
  try {
    const { address } = fixture.profile
    const timestamp = Math.floor(Date.now() / 1000)
    const signature = signQuota({ address, timestampSeconds: timestamp }, fixture.controllers.full.privateKey)
    const { status, json } = await poster.post('/quota', JSON.stringify({ address, timestamp, signature }))
    if (status !== 200) throw new Error(`quota: ${status} ${JSON.stringify(json)}`)
    return BigInt(json['totalQuota'] as number) - BigInt(json['quota'] as number)
  } finally {
    await poster.close()
  }
}
