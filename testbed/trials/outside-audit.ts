import { signQuota } from '../../contracts/lsp25.ts'
import type { Acknowledged } from './callers.ts'
import { executedBy, minedTransactions } from './invariants.ts'
import { createPoster, type RelayWorld } from '../relay-world.ts'

export interface OutsideAudit {
  /** Every fault in a line; none: all is well. */
  readonly faults: readonly string[]
  /** Relay calls that the chain has executed. */
  readonly executed: number
  /** Of the relayer's accounts, on the chain. */
  readonly transactions: number
  /** On the receipts of all transactions of the relayer's accounts. */
  readonly gasUsed: bigint
  /** By what `POST /quota` says. */
  readonly charged: bigint
}

/**
 * What anybody can see of a relay when nothing is under way any more, by the chain and by HTTP, without a look at its ledger:
 * every acknowledged call executed exactly once and told as succeeded, no call executed twice, no transaction reverted, the
 * quota spent equal to the gas on the receipts.
 *
 * @param afterBlock the chain is looked at from the block after this one on: where the relay had not begun before
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
