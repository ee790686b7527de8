import type { ChainTruth } from '../chain-truth.ts'
import type { CheckContext } from '../context.ts'
import { hasResult } from '../expect-rpc.ts'
import { objectOf } from '../answer.ts'
import { Untestable } from '../outcome.ts'
import { readHead } from './head.ts'
import { numberOf, quantity } from './quantity.ts'

/** A mined transaction. */
export interface KnownTransaction {
  readonly hash: string
  readonly block: bigint
  /** As the chain's node gives it; only the hash when there is no chain. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** How far back to look for transactions, in blocks. */
const depth = 40n
/** So many of different kinds are enough. */
const enough = 4

interface Block {
  readonly transactions?: readonly Readonly<Record<string, unknown>>[]
}

/** What makes transactions different in kind: their type, and whether they create a contract. */
function kindOf(fields: Readonly<Record<string, unknown>>): string {
  return `${String(fields['type'])} ${fields['to'] === null}`
}

async function ofBlock(chain: ChainTruth, number: bigint): Promise<KnownTransaction[]> {
  const block = (await chain.send('eth_getBlockByNumber', [quantity(number), true])) as Block | null
  return (block?.transactions ?? []).map((fields) => ({ hash: String(fields['hash']), block: number, fields }))
}

/** The youngest of each kind, from the head backwards; two at least, to tell one from another, where there are two. */
async function fromChain(t: CheckContext): Promise<KnownTransaction[]> {
  const head = await readHead(t.chain)
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

async function fromFixture(t: CheckContext): Promise<KnownTransaction[]> {
  const { logs } = t.fixture
  return logs ? (await ofBlock(t.chain, BigInt(logs.fromBlock))).slice(0, enough) : []
}

/** Without a chain the target itself is asked for logs: what they name is mined. */
async function fromTarget(t: CheckContext): Promise<KnownTransaction[]> {
  const head = numberOf(objectOf(await t.rpc.call('eth_blockNumber'))?.['result']) ?? 0n
  const fromBlock = quantity(head > depth ? head - depth : 0n)
  const answer = await t.rpc.call('eth_getLogs', [{ fromBlock, toBlock: quantity(head) }])
  const result = hasResult(answer) ? objectOf(answer)?.['result'] : undefined
  if (!Array.isArray(result)) return []
  return (result as Record<string, unknown>[]).slice(-1).flatMap((log) => {
    const [hash, block] = [log['transactionHash'], numberOf(log['blockNumber'])]
    return typeof hash === 'string' && block !== undefined ? [{ hash, block, fields: { hash } }] : []
  })
}

/**
 * Transactions that are mined, of different kinds where there are some; looked for once in a run.
 *
 * @throws Untestable when none is found
 */
export function knownTransactions(t: CheckContext): Promise<readonly [KnownTransaction, ...KnownTransaction[]]> {
  return t.once('eth-rpc.known-transactions', async (shared) => {
    const found = shared.hasChain ? await fromChain(shared) : await fromTarget(shared)
    const [first, ...rest] = found.length > 0 ? found : shared.hasChain ? await fromFixture(shared) : []
    if (!first) throw new Untestable(`no mined transaction was found in the last ${depth} blocks`)
    return [first, ...rest]
  })
}
