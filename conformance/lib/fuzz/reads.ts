import type { Arbitrary } from 'fast-check'
import { getAddress } from 'ethers'
import type { CheckContext } from '../context.ts'
import { accountsOf } from '../eth-rpc/accounts.ts'
import { emitterLogs } from '../eth-rpc/emitter-logs.ts'
import { readHead } from '../eth-rpc/head.ts'
import { knownTransactions } from '../eth-rpc/known-transactions.ts'
import { quantity } from '../eth-rpc/quantity.ts'
import { sampleAddress } from '../eth-rpc/samples.ts'

/** A request whose answer does not change while a run lasts. */
export interface Read {
  readonly method:
    'eth_chainId' | 'eth_getBalance' | 'eth_getTransactionByHash' | 'eth_getTransactionReceipt' | 'eth_getLogs'
  readonly params: readonly unknown[]
}

/** Nodes keep the state of so many blocks at least, and behind so many no ordinary reorganisation reaches. */
const [oldestBack, youngestBack] = [60n, 2n]

function spellings(account: string): string[] {
  return [account.toLowerCase(), getAddress(account.toLowerCase())]
}

/** Who emits in which block: the seeded emitter in its blocks where the fixture has one, which need no state. */
async function logsOfBlocks(
  t: CheckContext,
  others: Arbitrary<[string, string]>,
): Promise<Arbitrary<[string, string]>> {
  const { constantFrom, oneof, tuple } = await import('fast-check')
  if (!t.hasFixture || !t.fixture.logs) return others
  const { emitter, all } = await emitterLogs(t)
  const blocks = [...new Set(all.map((log) => String(log['blockNumber'])))]
  return oneof(others, tuple(constantFrom(...spellings(emitter)), constantFrom(...blocks)))
}

/** Reads of mined blocks that are neither so young that they may change nor so old that nodes forget their state. */
export async function reads(t: CheckContext): Promise<Arbitrary<Read>> {
  const { constantFrom, oneof, tuple } = await import('fast-check')
  const head = await readHead(t.chain)
  const back = Array.from({ length: Number(oldestBack - youngestBack) + 1 }, (_, index) => youngestBack + BigInt(index))
  const young = back.map((distance) => head - distance).filter((block) => block >= 0n)
  const blocks = constantFrom(...(young.length > 0 ? young : [head])).map(quantity)
  const known = [...(await accountsOf(t)), sampleAddress]
  const accounts = constantFrom(...known.flatMap(spellings))
  const hashes = constantFrom(...(await knownTransactions(t)).map(({ hash }) => hash))
  const read =
    (method: Read['method']) =>
    (params: readonly unknown[]): Read => ({ method, params })
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
