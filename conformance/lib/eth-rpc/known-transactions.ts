import { describeAnswer, hasResult, isServed, memberOf } from '../answer.ts'
import type { ChainTruth } from '../chain-truth.ts'
import type { CheckContext } from '../clause.ts'
import { stringify } from '../lossless-json.ts'
import { Fault, Untestable } from '../outcome.ts'
import { eventually, knownHead } from './head.ts'
import { emitterLogs, type Log, pairedLogs } from './logs.ts'
import { numberOf, quantity } from './values.ts'
import { expectServed, type Served } from './serve.ts'

type Members = Readonly<Record<string, unknown>>

/** A mined transaction. */
interface KnownTransaction {
  readonly hash: string
  readonly block: bigint
  /** The fields that the chain's node returns, or the target where there is no chain; only the hash where neither does. */
  readonly fields: Members
}

/** How far back to look for transactions, in blocks. */
const depth = 40n
/** The search ends when it has this many transactions of different kinds. */
const enough = 4

interface Block {
  readonly transactions?: readonly Members[]
}

/** The kind of a transaction: its type, and whether it creates a contract. */
function kindOf(fields: Members): string {
  return `${String(fields['type'])} ${(fields['to'] ?? null) === null}`
}

async function ofBlock(chain: ChainTruth, number: bigint): Promise<KnownTransaction[]> {
  const block = (await chain.send('eth_getBlockByNumber', [quantity(number), true])) as Block | null
  return (block?.transactions ?? []).map((fields) => ({ hash: String(fields['hash']), block: number, fields }))
}

/** The youngest transaction of each kind, searched from the head backwards. Two at least, where the chain has two. */
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

/** The transactions that the fixture names, as far as the chain's node has them. */
async function named(t: CheckContext): Promise<KnownTransaction[]> {
  const hashes = Object.values(t.fixture.transactions ?? {})
  const found = await Promise.all(hashes.map((hash) => t.chain.send('eth_getTransactionByHash', [hash])))
  return (found as (Members | null)[]).flatMap((fields, index) => {
    const block = numberOf(fields?.['blockNumber'])
    return fields && block !== undefined ? [{ hash: hashes[index] ?? '', block, fields }] : []
  })
}

/** Transactions of the fixture, so that each kind is there on an idle chain as well. Empty without a fixture. */
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

/** Transactions of blocks that the target knows too. The target may be a little behind the chain's node. */
async function fromChainAndFixture(t: CheckContext): Promise<KnownTransaction[]> {
  const head = await knownHead(t)
  const found = [...(await fromChain(t, head)), ...(await fromFixture(t))]
  return found.filter(({ block }) => block <= head)
}

/** Transactions that the target's own logs name, for runs without a chain. */
async function fromTarget(t: CheckContext): Promise<KnownTransaction[]> {
  const head = numberOf(memberOf(await t.rpc.call('eth_blockNumber'), 'result')) ?? 0n
  const fromBlock = quantity(head > depth ? head - depth : 0n)
  const answer = await t.rpc.call('eth_getLogs', [{ fromBlock, toBlock: quantity(head) }])
  const result = hasResult(answer) ? memberOf(answer, 'result') : undefined
  if (!Array.isArray(result)) return []
  const log = (result as Members[]).at(-1) ?? {}
  const [hash, block] = [log['transactionHash'], numberOf(log['blockNumber'])]
  if (typeof hash !== 'string' || block === undefined) return []
  const found = memberOf(await t.rpc.call('eth_getTransactionByHash', [hash]), 'result')
  return [{ hash, block, fields: isObject(found) ? found : { hash } }]
}

/**
 * Mined transactions of different kinds, young ones first. Searched once in a run.
 *
 * @throws Untestable when there is none
 */
export function knownTransactions(t: CheckContext): Promise<readonly [KnownTransaction, ...KnownTransaction[]]> {
  return t.once('eth-rpc.known-transactions', async (shared) => {
    const found = shared.hasChain ? await fromChainAndFixture(shared) : await fromTarget(shared)
    const [first, ...rest] = new Map(found.map((known) => [known.hash.toLowerCase(), known] as const)).values()
    if (!first) throw new Untestable(`no mined transaction was found in the last ${depth} blocks`)
    return [first, ...rest]
  })
}

/** Whether a double cannot hold the number: a service that reads numbers as doubles would round it. */
export function needsManyDigits(value: bigint): boolean {
  return BigInt(Number(value)) !== value
}

const kinds: Readonly<Record<string, (transaction: Members, receipt: Members) => boolean>> = {
  'of type 0 (legacy)': ({ type }) => numberOf(type) === 0n,
  'of type 1 (with an access list)': ({ type }) => numberOf(type) === 1n,
  'that reverted': (_transaction, { status }) => numberOf(status) === 0n,
  'that creates a contract': ({ to }) => (to ?? null) === null,
  'with a value beyond what a double holds': ({ value }) => needsManyDigits(numberOf(value) ?? 0n),
}

/** Observes which kinds of transactions neither the fixture nor the chain shows. */
export function observeMissingKinds(
  t: CheckContext,
  seen: readonly { readonly known: KnownTransaction; readonly receipt: Members }[],
): void {
  const missing = Object.entries(kinds).filter(
    ([, isOfKind]) => !seen.some(({ known, receipt }) => isOfKind(known.fields, receipt)),
  )
  if (missing.length === 0) return
  t.observe(
    `not seen, because neither the fixture nor the chain shows one: a transaction ${missing.map(([kind]) => kind).join(', ')}`,
  )
}

/** A mined transaction and the receipt that the chain's node returns. */
interface KnownReceipt {
  readonly known: KnownTransaction
  readonly receipt: Readonly<Record<string, unknown>>
}

/** How many of the youngest blocks to search for a transaction whose logs are not the first of its block. */
const youngBlocks = 5n

/**
 * The receipts of all known transactions. The list also holds a transaction of the block with the most logs, one
 * with long data, and one whose logs are not the first of its block, where the chain has these. Read once in a run.
 *
 * @throws Untestable when the chain's node does not have a receipt
 */
export function receiptsOf(t: CheckContext): Promise<readonly KnownReceipt[]> {
  return t.once('eth-rpc.known-receipts', async (shared) => {
    const known = [...(await knownTransactions(shared))]
    for (const found of [...(await emitting(shared)), ...(await notFirstInBlock(shared))]) {
      if (!known.some(({ hash }) => hash === found.hash)) known.push(found)
    }
    return Promise.all(
      known.map(async (transaction) => {
        const { hash } = transaction
        const receipt = (await shared.chain.send('eth_getTransactionReceipt', [hash])) as KnownReceipt['receipt'] | null
        if (receipt === null) throw new Untestable(`the chain's node has no receipt of ${hash}`)
        return { known: transaction, receipt }
      }),
    )
  })
}

async function emitting(t: CheckContext): Promise<KnownTransaction[]> {
  try {
    const { all, densest } = await emitterLogs(t)
    const ofBlock = all.findLast(({ blockNumber }) => BigInt(String(blockNumber)) === densest)
    const [long] = (await pairedLogs(t))?.all ?? []
    return await Promise.all([ofBlock, long].flatMap((log) => (log ? [emitterOf(t, log)] : [])))
  } catch (error) {
    if (error instanceof Untestable) return []
    throw error
  }
}

/** A transaction of the youngest blocks whose logs come after those of another; empty when there is none. */
async function notFirstInBlock(t: CheckContext): Promise<KnownTransaction[]> {
  const head = await knownHead(t)
  const range = { fromBlock: quantity(head < youngBlocks ? 0n : head - youngBlocks), toBlock: quantity(head) }
  const outcome = await t.chain.attempt('eth_getLogs', [range])
  const logs = 'result' in outcome && Array.isArray(outcome.result) ? (outcome.result as Log[]) : []
  const firstOf = new Map<unknown, Log>()
  for (const log of logs) if (!firstOf.has(log['transactionHash'])) firstOf.set(log['transactionHash'], log)
  const [later] = [...firstOf.values()].filter((log) => (numberOf(log['logIndex']) ?? 0n) > 0n)
  return later ? [await emitterOf(t, later)] : []
}

async function emitterOf({ chain }: CheckContext, log: Log): Promise<KnownTransaction> {
  const hash = String(log['transactionHash'])
  const fields = (await chain.send('eth_getTransactionByHash', [hash])) as KnownTransaction['fields'] | null
  if (fields === null) throw new Untestable(`the chain's node does not have the transaction ${hash}`)
  return { hash, block: BigInt(String(log['blockNumber'])), fields }
}

/** The two methods that take a hash and nothing else. */
export type LookUp = 'eth_getTransactionByHash' | 'eth_getTransactionReceipt'

/** What the target returns for a transaction. */
export interface Found extends Served {
  readonly result: Readonly<Record<string, unknown>>
}

function isObject(value: unknown): value is Found['result'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether the target returns the transaction as mined, and not as pending. */
function isMined({ result }: Served): boolean {
  return isObject(result) && result['blockNumber'] !== null
}

/** Whether the target finds the transaction under another spelling of its hash. */
async function isFoundOtherwise(t: CheckContext, method: LookUp, hash: string): Promise<boolean> {
  const digits = hash.slice(2)
  for (const spelling of [digits, `0x${digits.toUpperCase()}`]) {
    const answer = await t.rpc.call(method, [spelling])
    if (isServed(answer) && isObject(memberOf(answer, 'result'))) return true
  }
  return false
}

function sameHash(found: unknown, hash: string): boolean {
  const digits = (text: string) => text.toLowerCase().replace(/^0x/, '')
  return typeof found === 'string' && digits(found) === digits(hash)
}

/**
 * Whether the result is about the transaction with this hash. True for an object that names no hash: which members it
 * has is not shown.
 */
export function isAbout(method: LookUp, result: unknown, hash: string): boolean {
  if (!isObject(result)) return false
  const named = result[method === 'eth_getTransactionByHash' ? 'hash' : 'transactionHash']
  return named === undefined || sameHash(named, hash)
}

/**
 * Looks up a mined transaction, again and again while it is missing: the target may learn of a young one a moment
 * later than our node.
 *
 * @throws Fault of the sentence that the answer contradicts
 */
export async function findTransaction(t: CheckContext, method: LookUp, hash: string): Promise<Found> {
  const { answer, result } = await eventually(t, () => expectServed(t, method, [hash], { isYoung: true }), isMined)
  if (!isObject(result)) {
    const of = (await isFoundOtherwise(t, method, hash)) ? 'eth-rpc.types.hash' : (`eth-rpc.${method}.success` as const)
    const expected = `the transaction or receipt of ${hash}`
    throw new Fault('a mined transaction is not found', { expected, actual: describeAnswer(answer), answer, of })
  }
  if (!isAbout(method, result, hash)) {
    const of = `eth-rpc.${method}.success` as const
    throw new Fault('the result is about another transaction', {
      expected: hash,
      actual: stringify(result).slice(0, 300),
      answer,
      of,
    })
  }
  return { answer, result }
}

/**
 * Looks up several transactions at the same time. A target may serve one request at a time, and refuse the others.
 *
 * @throws Fault when a hash is answered with another transaction
 */
export async function expectOwnAtOnce(t: CheckContext, method: LookUp): Promise<void> {
  const hashes = (await knownTransactions(t)).map(({ hash }) => hash).slice(0, 4)
  if (hashes.length < 2) return t.observe('not seen: several transactions')
  const answers = await Promise.all(hashes.map((hash) => t.rpc.call(method, [hash])))
  for (const [index, answer] of answers.entries()) {
    const result = isServed(answer) ? memberOf(answer, 'result') : undefined
    if (!isObject(result) || isAbout(method, result, hashes[index] ?? '')) continue
    throw new Fault('the result is about another transaction that was asked for at the same time', {
      expected: hashes[index] ?? '',
      actual: stringify(result).slice(0, 300),
      answer,
    })
  }
}

/** A look at a transaction as soon as its hash is known, when most nodes do not have it yet. */
interface FirstLook {
  /** Set by the checks that look at the same transaction at the end of the run. */
  isWanted: boolean
  /** The transaction that was asked for; absent: none yet. */
  hash?: string
}

/** The first look of the run. */
export function firstLook(t: CheckContext): Promise<FirstLook> {
  return t.once('eth-rpc.first-look', async () => ({ isWanted: false }))
}

/**
 * Asks the target for the transaction and its receipt, once in a run, as clients do when a relay has answered. A target
 * that keeps "unknown" or "pending" for ever shows at the end of the run.
 */
export async function lookAtOnce(t: CheckContext, hash: string): Promise<void> {
  const look = await firstLook(t)
  if (!look.isWanted || look.hash !== undefined) return
  look.hash = hash
  try {
    for (const method of ['eth_getTransactionByHash', 'eth_getTransactionReceipt'] as const)
      await t.rpc.call(method, [hash])
  } catch (error) {
    if (!(error instanceof Untestable)) throw error
  }
}
