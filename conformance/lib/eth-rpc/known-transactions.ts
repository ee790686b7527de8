import type { ChainTruth } from '../chain-truth.ts'
import type { CheckContext } from '../context.ts'
import { hasResult, memberOf } from '../expect-rpc.ts'
import { Untestable } from '../outcome.ts'
import { knownHead } from './head.ts'
import { numberOf, quantity } from './quantity.ts'

type Members = Readonly<Record<string, unknown>>

/** A mined transaction. */
export interface KnownTransaction {
  readonly hash: string
  readonly block: bigint
  /** As the chain's node gives it; only the hash when there is no chain. */
  readonly fields: Members
}

/** How far back to look for transactions, in blocks. */
const depth = 40n
/** So many of different kinds are enough. */
const enough = 4

interface Block {
  readonly transactions?: readonly Members[]
}

/** What makes transactions different in kind: their type, and whether they create a contract. */
function kindOf(fields: Members): string {
  return `${String(fields['type'])} ${(fields['to'] ?? null) === null}`
}

async function ofBlock(chain: ChainTruth, number: bigint): Promise<KnownTransaction[]> {
  const block = (await chain.send('eth_getBlockByNumber', [quantity(number), true])) as Block | null
  return (block?.transactions ?? []).map((fields) => ({ hash: String(fields['hash']), block: number, fields }))
}

/** The youngest of each kind, from the head backwards; two at least, to tell one from another, where there are two. */
async function fromChain(t: CheckContext, head: bigint): Promise<KnownTransaction[]> {
  const recent = Array.from({ length: Number(depth) }, (_, back) => head - BigInt(back)).filter(
    (number) => number >= 0n,
  )
  const found = new Map<string, KnownTransaction>()
  let spare: KnownTransaction | undefined
  for (const number of recent) {
    for (const known of await ofBlock(t.chain, number)) {
      const kind = kindOf(known.fields)
      if (found.has(kind)) spare ??= known
      else found.set(kind, known)
    }
    if (found.size >= enough) break
  }
  return [...found.values(), ...(found.size === 1 && spare ? [spare] : [])]
}

/** Those that the fixture names, as far as the chain's node has them. */
async function named(t: CheckContext): Promise<KnownTransaction[]> {
  const hashes = Object.values(t.fixture.transactions ?? {})
  const found = await Promise.all(hashes.map((hash) => t.chain.send('eth_getTransactionByHash', [hash])))
  return (found as (Members | null)[]).flatMap((fields, index) => {
    const block = numberOf(fields?.['blockNumber'])
    return fields && block !== undefined ? [{ hash: hashes[index] ?? '', block, fields }] : []
  })
}

/** Of every kind that the fixture has: also on a chain where nothing has happened for long. */
async function fromFixture(t: CheckContext): Promise<KnownTransaction[]> {
  try {
    const { logs } = t.fixture
    const emitting = logs ? (await ofBlock(t.chain, BigInt(logs.fromBlock))).slice(0, enough) : []
    return [...(await named(t)), ...emitting]
  } catch (error) {
    if (error instanceof Untestable) return []
    throw error
  }
}

/** Those in blocks that the target, which may be a little behind, knows too. */
async function fromChainAndFixture(t: CheckContext): Promise<KnownTransaction[]> {
  const head = await knownHead(t)
  const found = [...(await fromChain(t, head)), ...(await fromFixture(t))]
  return found.filter(({ block }) => block <= head)
}

/** Without a chain the target itself is asked for logs: what they name is mined. */
async function fromTarget(t: CheckContext): Promise<KnownTransaction[]> {
  const head = numberOf(memberOf(await t.rpc.call('eth_blockNumber'), 'result')) ?? 0n
  const fromBlock = quantity(head > depth ? head - depth : 0n)
  const answer = await t.rpc.call('eth_getLogs', [{ fromBlock, toBlock: quantity(head) }])
  const result = hasResult(answer) ? memberOf(answer, 'result') : undefined
  if (!Array.isArray(result)) return []
  return (result as Record<string, unknown>[]).slice(-1).flatMap((log) => {
    const [hash, block] = [log['transactionHash'], numberOf(log['blockNumber'])]
    return typeof hash === 'string' && block !== undefined ? [{ hash, block, fields: { hash } }] : []
  })
}

/**
 * Transactions that are mined, young ones first, of different kinds where there are some; looked for once in a run.
 *
 * @throws Untestable when none is found
 */
export function knownTransactions(t: CheckContext): Promise<readonly [KnownTransaction, ...KnownTransaction[]]> {
  return t.once('eth-rpc.known-transactions', async (shared) => {
    const found = shared.hasChain ? await fromChainAndFixture(shared) : await fromTarget(shared)
    const [first, ...rest] = new Map(found.map((known) => [known.hash.toLowerCase(), known] as const)).values()
    if (!first) throw new Untestable(`no mined transaction was found in the last ${depth} blocks`)
    return [first, ...rest]
  })
}
