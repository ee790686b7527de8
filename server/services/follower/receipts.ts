import { bundleResults, decodeBundle, divideGas, type RawLog } from '../../ethereum/bundle.ts'
import { transactionCall } from '../../ethereum/transaction.ts'
import { divide } from '../../ethereum/bigint.ts'
import type { Queries } from '../database/database.ts'
import type { Upstream } from '../node/upstream.ts'
import { carriedBy, type OpenAttempt, type OpenRelay, withAttempts } from '../ledger/open-relays.ts'
import type { Mined } from '../ledger/settle.ts'

interface RawReceipt {
  readonly status?: string
  readonly blockNumber: string
  readonly blockHash: string
  readonly gasUsed: string
  readonly effectiveGasPrice?: string
  /** On rollups of the OP Stack: what the transaction's data cost on the chain below, in wei. */
  readonly l1Fee?: string | null
  readonly logs?: readonly RawLog[]
}

/** A transaction of relays: the hash of its first attempt, and all its attempts, the latest last. */
interface Tried {
  readonly transaction: string
  readonly attempts: readonly Pick<OpenAttempt, 'hash' | 'kind'>[]
}

/** One relay for each transaction. The relays of a bundle share their attempts. */
function oneOfEach<Relay extends { readonly transaction: string }>(relays: readonly Relay[]): Relay[] {
  return [...new Map(relays.map((relay) => [relay.transaction, relay])).values()]
}

/** A mined transaction, which carries one relay, several or none. */
interface MinedTransaction {
  /** Hash of the first attempt. */
  readonly transaction: string
  /** The outcome for a relay that is alone in the transaction. */
  readonly mined: Omit<Mined, 'relay'>
  readonly logs: readonly RawLog[]
}

/**
 * Looks for the receipt of any attempt of a transaction, the latest first.
 *
 * @param lastFinalBlock blocks up to this number are held to be final
 * @returns undefined while none is mined
 */
async function findMined(
  upstream: Upstream,
  { transaction, attempts }: Tried,
  lastFinalBlock: number,
): Promise<MinedTransaction | undefined> {
  for (const attempt of attempts.toReversed()) {
    const receipt = await upstream.request<RawReceipt | null>('eth_getTransactionReceipt', [attempt.hash])
    // Some nodes show a receipt of the pending block, which has no hash yet.
    if (receipt === null || typeof receipt.blockHash !== 'string') continue
    const mined = {
      attempt: attempt.hash,
      kind: attempt.kind,
      succeeded: receipt.status === '0x1',
      blockNumber: Number(receipt.blockNumber),
      blockHash: receipt.blockHash,
      gasUsed: BigInt(receipt.gasUsed),
      effectiveGasPriceWei: BigInt(receipt.effectiveGasPrice ?? 0),
      dataFeeWei: BigInt(receipt.l1Fee ?? 0),
      final: Number(receipt.blockNumber) <= lastFinalBlock,
    }
    return { transaction, mined, logs: receipt.logs ?? [] }
  }
  return undefined
}

/**
 * The outcomes of relays by their mined transactions. The calls of a bundle divide the gas of its receipt.
 *
 * @param relays all relays of these transactions
 */
export async function outcomesOf(
  db: Queries,
  mined: readonly MinedTransaction[],
  relays: readonly OpenRelay[],
): Promise<Mined[]> {
  const byTransaction = Map.groupBy(relays, ({ transaction }) => transaction)
  const isBundle = ({ transaction }: MinedTransaction) => byTransaction.get(transaction)?.[0]?.place != null
  const carried = await carriedBy(
    db,
    mined.filter(isBundle).map((one) => one.mined.attempt),
  )
  return mined.flatMap((one) => {
    const members = byTransaction.get(one.transaction) ?? []
    const attempt = carried.get(one.mined.attempt)
    if (!attempt) return members.map(({ hash }) => ({ ...one.mined, relay: hash }))
    const parts = attempt.carries.length === 0 ? evenParts(one, members) : partsOf(one, attempt)
    return members.map(({ hash, place }): Mined => {
      // A call without a part was left out: the transaction has used up the nonce without it.
      const part = parts.get(place ?? -1) ?? { kind: 'cancel', gasUsed: 0n, dataFeeWei: 0n }
      return { ...one.mined, relay: hash, ...part }
    })
  })
}

type Part = Pick<Mined, 'kind' | 'succeeded' | 'gasUsed' | 'dataFeeWei'>

/** The transaction did nothing but use up the nonce of a bundle. The calls pay for it in equal parts. */
function evenParts(
  { mined: { gasUsed, dataFeeWei, succeeded } }: MinedTransaction,
  members: readonly OpenRelay[],
): Map<number, Part> {
  const gas = divide(
    gasUsed,
    members.map(() => 1n),
  )
  const fees = divide(dataFeeWei, gas)
  return new Map(
    members.map(({ place }, index) => [
      place ?? -1,
      { kind: 'cancel', succeeded, gasUsed: gas[index] ?? 0n, dataFeeWei: fees[index] ?? 0n },
    ]),
  )
}

/** By place in the bundle, the outcome of each call. */
function partsOf(
  { mined: { gasUsed, dataFeeWei, succeeded }, logs }: MinedTransaction,
  { raw, carries }: { readonly raw: string; readonly carries: readonly number[] },
): Map<number, Part> {
  const [only, second] = carries
  // When one call of a bundle is left, its transaction goes to the key manager and not to the bundler.
  if (only !== undefined && second === undefined) {
    return new Map([[only, { kind: 'call', succeeded, gasUsed, dataFeeWei }]])
  }
  const { to, data } = transactionCall(raw)
  const results = succeeded ? bundleResults(logs, to) : []
  const gas = divideGas(gasUsed, decodeBundle(data), results)
  const fees = divide(dataFeeWei, gas)
  return new Map(
    carries.map((place, index) => [
      place,
      {
        kind: 'call',
        succeeded: results[index]?.succeeded ?? false,
        gasUsed: gas[index] ?? 0n,
        dataFeeWei: fees[index] ?? 0n,
      },
    ]),
  )
}

/**
 * Finds the receipts of relays whose account nonces the chain has used. A relay is lost when no transaction of its is in a
 * block.
 *
 * @param lastFinalBlock blocks up to this number are held to be final
 */
export async function findPassed(
  { db, upstream }: { readonly db: Queries; readonly upstream: Upstream },
  passed: readonly OpenRelay[],
  lastFinalBlock: number,
) {
  // Nearly always the first attempt is the one that is mined, so it is asked for before the others are read.
  const byFirst = await Promise.all(
    oneOfEach(passed).map(({ transaction }) =>
      findMined(upstream, { transaction, attempts: [{ hash: transaction, kind: 'call' }] }, lastFinalBlock),
    ),
  )
  const isFound = new Set(byFirst.map((mined) => mined?.transaction))
  const others = await withAttempts(
    db,
    passed.filter(({ transaction }) => !isFound.has(transaction)),
  )
  const byOther = await Promise.all(oneOfEach(others).map((one) => findMined(upstream, one, lastFinalBlock)))
  for (const mined of byOther) isFound.add(mined?.transaction)
  const missing = others.filter(({ transaction }) => !isFound.has(transaction))
  const inBlocks = await Promise.all(
    oneOfEach(missing).map(async (one) => ((await isMinedWithoutReceipt(upstream, one)) ? [one.transaction] : [])),
  )
  for (const transaction of inBlocks.flat()) isFound.add(transaction)
  return {
    found: [...byFirst, ...byOther].filter((one) => one !== undefined),
    lost: missing.filter(({ transaction }) => !isFound.has(transaction)),
  }
}

/**
 * Whether the node has one of the transactions in a block, and no receipt of it yet: providers index receipts late. Such a
 * relay is not lost. To give it up would be final, and its call would be executed for nothing.
 */
async function isMinedWithoutReceipt(upstream: Upstream, { attempts }: Tried): Promise<boolean> {
  const found = await Promise.all(
    attempts.map(({ hash }) =>
      upstream.request<{ blockHash?: string | null } | null>('eth_getTransactionByHash', [hash]),
    ),
  )
  return found.some((transaction) => (transaction?.blockHash ?? null) !== null)
}

/** What has become of relays that were mined at the last look. */
interface MinedNews {
  /** So deep in the chain that they are held to be final. */
  readonly final: readonly OpenRelay[]
  /** Mined in another block now. */
  readonly moved: readonly Mined[]
  /** Not mined any more. */
  readonly dropped: readonly OpenRelay[]
}

/**
 * Asks whether the blocks of mined relays are still part of the chain.
 *
 * @param lastFinalBlock blocks up to this number are held to be final
 */
export async function followMined(
  { db, upstream }: { readonly db: Queries; readonly upstream: Upstream },
  relays: readonly OpenRelay[],
  lastFinalBlock: number,
): Promise<MinedNews> {
  const numbers = [...new Set(relays.map(({ mined }) => mined?.blockNumber ?? 0))]
  const blocks = await Promise.all(
    numbers.map((number) =>
      upstream.request<{ hash: string } | null>('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]),
    ),
  )
  const hashes = new Map(numbers.map((number, index) => [number, blocks[index]?.hash]))
  const stays = relays.filter(({ mined }) => mined && hashes.get(mined.blockNumber) === mined.blockHash)
  const gone = relays.filter((relay) => !stays.includes(relay))
  const tried = oneOfEach(await withAttempts(db, gone))
  const found = (await Promise.all(tried.map((one) => findMined(upstream, one, lastFinalBlock)))).filter(
    (mined) => mined !== undefined,
  )
  const isFound = new Set(found.map(({ transaction }) => transaction))
  return {
    final: stays.filter(({ mined }) => mined && mined.blockNumber <= lastFinalBlock),
    moved: await outcomesOf(db, found, gone),
    dropped: gone.filter(({ transaction }) => !isFound.has(transaction)),
  }
}
