import { getAddress } from 'ethers'
import type { Arbitrary } from 'fast-check'
import type { CheckContext } from '../clause.ts'
import { accountsOf } from '../eth-rpc/accounts.ts'
import { emitterLogs, type Log, logsBetween } from '../eth-rpc/logs.ts'
import { readHead } from '../eth-rpc/head.ts'
import type { KnownFilter } from '../eth-rpc/filters.ts'
import { knownTransactions } from '../eth-rpc/known-transactions.ts'
import { numberOf, quantity } from '../eth-rpc/quantity.ts'
import { sampleAddress } from '../eth-rpc/methods.ts'

/** A request whose answer does not change during a run. */
export interface ReadRequest {
  readonly method:
    'eth_chainId' | 'eth_getBalance' | 'eth_getTransactionByHash' | 'eth_getTransactionReceipt' | 'eth_getLogs'
  readonly params: readonly unknown[]
}

/** Nodes keep the state of the last 60 blocks at least. Ordinary reorganisations reach no further than 2 blocks. */
const [oldestBack, youngestBack] = [60n, 2n]

function spellingsOf(account: string): string[] {
  return [account.toLowerCase(), getAddress(account.toLowerCase())]
}

/**
 * Addresses and blocks for eth_getLogs: other accounts, and the fixture's emitter in its blocks, which needs no
 * state.
 */
async function logsOfBlocks(
  t: CheckContext,
  others: Arbitrary<[string, string]>,
): Promise<Arbitrary<[string, string]>> {
  const { constantFrom, oneof, tuple } = await import('fast-check')
  if (!t.hasFixture || !t.fixture.logs) return others
  const { emitter, all } = await emitterLogs(t)
  const blocks = [...new Set(all.map((log) => String(log['blockNumber'])))]
  return oneof(others, tuple(constantFrom(...spellingsOf(emitter)), constantFrom(...blocks)))
}

/** Reads of mined blocks that are old enough not to change, and young enough that nodes keep their state. */
export async function readRequests(t: CheckContext): Promise<Arbitrary<ReadRequest>> {
  const { constantFrom, oneof, tuple } = await import('fast-check')
  const head = await readHead(t.chain)
  const back = Array.from({ length: Number(oldestBack - youngestBack) + 1 }, (_, index) => youngestBack + BigInt(index))
  const young = back.map((distance) => head - distance).filter((block) => block >= 0n)
  const blocks = constantFrom(...(young.length > 0 ? young : [head])).map(quantity)
  const known = [...(await accountsOf(t)), sampleAddress]
  const accounts = constantFrom(...known.flatMap(spellingsOf))
  const hashes = constantFrom(...(await knownTransactions(t)).map(({ hash }) => hash))
  const read =
    (method: ReadRequest['method']) =>
    (params: readonly unknown[]): ReadRequest => ({ method, params })
  return oneof(
    tuple(accounts, blocks).map(read('eth_getBalance')),
    tuple(hashes).map(read('eth_getTransactionByHash')),
    tuple(hashes).map(read('eth_getTransactionReceipt')),
    (await logsOfBlocks(t, tuple(accounts, blocks))).map(([address, block]) =>
      read('eth_getLogs')([{ address, fromBlock: block, toBlock: block }]),
    ),
    constantFrom(read('eth_chainId')([])),
  )
}

/** What a position of `topics` selects. */
type Wanted = null | string | readonly string[]

function topicsOf(log: Log): readonly string[] {
  const { topics } = log
  return Array.isArray(topics) ? topics.filter((topic): topic is string => typeof topic === 'string') : []
}

function matches(log: Log, wanted: readonly Wanted[]): boolean {
  const topics = topicsOf(log)
  return wanted.every((want, position) => {
    if (want === null) return topics.length > position
    const found = topics[position]
    return found !== undefined && (typeof want === 'string' ? want === found : want.includes(found))
  })
}

type Form = 'any' | 'one' | 'several'

/** A value for a position that selects the first log: any value, its own value, or its own among others. */
function wantedAt(position: number, form: Form, [log, ...others]: readonly Log[]): Wanted {
  const own = topicsOf(log ?? {})[position]
  if (form === 'any' || own === undefined) return null
  if (form === 'one') return own
  return [...others.flatMap((other) => topicsOf(other)[position] ?? []), own]
}

/** Random filters over the fixture's logs. Each selects at least one log. */
export async function logFilters(t: CheckContext): Promise<Arbitrary<KnownFilter>> {
  const { array, boolean, constantFrom, nat, record } = await import('fast-check')
  const logs = await emitterLogs(t)
  const span = Number(logs.toBlock - logs.fromBlock)
  const choice = record({
    picked: array(nat(logs.all.length - 1), { minLength: 1, maxLength: 3 }),
    before: nat(span),
    after: nat(span),
    isOneOfMany: boolean(),
    forms: array(constantFrom<Form>('any', 'one', 'several'), { maxLength: 2 }),
  })
  return choice.map(({ picked, before, after, isOneOfMany, forms }) => {
    const chosen: Log[] = picked.flatMap((index) => (logs.all[index] ? [logs.all[index]] : []))
    const block = numberOf(chosen[0]?.['blockNumber']) ?? logs.fromBlock
    const fromBlock = max(logs.fromBlock, block - BigInt(before))
    const toBlock = -max(-logs.toBlock, -block - BigInt(after))
    const topics = forms.map((form, position) => wantedAt(position, form, chosen))
    return {
      filter: {
        address: isOneOfMany ? [sampleAddress, logs.emitter] : logs.emitter,
        fromBlock: quantity(fromBlock),
        toBlock: quantity(toBlock),
        ...(topics.length > 0 ? { topics } : {}),
      },
      truth: logsBetween(logs, fromBlock, toBlock).filter((log) => matches(log, topics)),
    }
  })
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
