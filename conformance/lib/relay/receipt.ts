import { dataSlice, id, zeroPadValue } from 'ethers'
import type { Answer } from '../answer.ts'
import type { ChainTruth } from '../chain-truth.ts'
import type { CheckContext } from '../clause.ts'
import { Fault, Untestable } from '../outcome.ts'
import type { CausedTransaction } from '../report-types.ts'
import type { SpendingAccount } from '../limits.ts'
import { delay, ourTimeMs } from '../world.ts'
import { describeEffect, isInEffect, type RelayCall } from './call.ts'
import { keyManagerAbi, profileAbi, readNonce } from './contracts.ts'

/** A log entry of a receipt, as the node returns it. */
export interface ReceiptLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** A receipt, as the node returns it. */
export interface Receipt {
  readonly transactionHash: string
  readonly blockNumber: string
  readonly transactionIndex: string
  /** Whom the transaction calls; null: it creates a contract. */
  readonly to?: string | null
  /** `0x1`: succeeded, `0x0`: reverted. */
  readonly status: string
  readonly gasUsed: string
  readonly effectiveGasPrice?: string
  readonly logs: readonly ReceiptLog[]
}

/** A call of the run that was executed. */
export interface ExecutedCall {
  readonly call: RelayCall
  readonly answer: Answer
  readonly receipt: Receipt
}

/** All valid calls of the run that were executed. */
export function executedCalls(t: CheckContext): Promise<ExecutedCall[]> {
  return t.once('relay.executed', async () => [])
}

/**
 * Whether the transaction may do more than one relay call. The key manager logs for each call whose permissions it
 * verified. What a transaction to another contract does beside the call, and what of it reverts, the receipt does not say.
 */
export function mayBeShared({ to, logs }: Receipt, keyManager: string): boolean {
  const verified = keyManagerAbi.getEvent('PermissionsVerified')?.topicHash
  const isStraight = to?.toLowerCase() === keyManager.toLowerCase()
  return !isStraight || logs.filter(({ topics }) => topics[0] === verified).length > 1
}

/**
 * Asks again and again, ever more slowly, until there is an answer.
 *
 * @returns undefined when there is none within `timeoutMs`
 */
export async function poll<T>(ask: () => Promise<T | null | undefined>, timeoutMs: number): Promise<T | undefined> {
  const deadline = ourTimeMs() + timeoutMs
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.5, 1000)) {
    const found = await ask()
    if (found !== null && found !== undefined) return found
    const leftMs = deadline - ourTimeMs()
    if (leftMs <= 0) return undefined
    await delay(Math.min(pauseMs, leftMs))
  }
}

/** The outcome of a call that the target accepted. */
export interface Settled {
  /** Undefined: the chain does not know the transaction. */
  readonly receipt: Receipt | undefined
  /** Whether the profile holds the value that the call sets. */
  readonly isExecuted: boolean
}

/**
 * A node may show the effect before the receipt: several may stand behind its URL, some of which are seconds late. How long to
 * wait then: at first, and after a receipt that never came.
 */
const graceMs = [6000, 200] as const

function readReceipt(t: CheckContext, hash: string): Promise<Receipt | null> {
  return t.chain.send('eth_getTransactionReceipt', [hash]) as Promise<Receipt | null>
}

/** What a node tells of a transaction by itself and as part of a block; numbers in hex. */
interface NodeTransaction {
  readonly hash: string
  readonly from: string
  readonly nonce: string
}

/** So many of the last blocks are searched for what has replaced a transaction. */
const replacedWithinBlocks = 20

/** The hash of the transaction of the same account and nonce in the last blocks; undefined: none is mined. */
async function minedInPlaceOf(t: CheckContext, { from, nonce }: NodeTransaction): Promise<string | undefined> {
  const count = (await t.chain.send('eth_getTransactionCount', [from, 'latest'])) as string
  if (BigInt(count) <= BigInt(nonce)) return undefined
  const head = Number(await t.chain.send('eth_blockNumber', []))
  for (let block = head; block > Math.max(head - replacedWithinBlocks, 0); block--) {
    const told = (await t.chain.send('eth_getBlockByNumber', [`0x${block.toString(16)}`, true])) as {
      readonly transactions: readonly NodeTransaction[]
    } | null
    const found = told?.transactions.find((other) => other.from === from && BigInt(other.nonce) === BigInt(nonce))
    if (found) return found.hash
  }
  return undefined
}

/**
 * Looks for the receipt of a transaction. A relay may replace a pending transaction by one with a higher fee: the receipt
 * is then that of the other one, if the node has shown the first one while it was pending.
 *
 * @returns what looks once; null: nothing is mined yet
 */
function createReceiptLook(t: CheckContext, hash: string): () => Promise<Receipt | null> {
  let pending: NodeTransaction | undefined
  return async () => {
    const receipt = await readReceipt(t, hash)
    if (receipt) return receipt
    if (pending === undefined) {
      pending = ((await t.chain.send('eth_getTransactionByHash', [hash])) as NodeTransaction | null) ?? undefined
      return null
    }
    const other = await minedInPlaceOf(t, pending)
    if (other === undefined || other === hash) return null
    t.observe('a pending transaction was replaced by another one of the same account and nonce')
    return readReceipt(t, other)
  }
}

/** How long to look for the effect of a transaction that has succeeded. */
const behindMs = 2000

/**
 * Waits until the transaction is mined, or until its effect is there and the chain still does not know the hash.
 *
 * @returns undefined without a chain
 * @throws Untestable when the chain knows the transaction and does not mine it in time
 */
export async function settle(t: CheckContext, call: RelayCall, hash: string): Promise<Settled | undefined> {
  if (!t.hasChain) return undefined
  const isExecuted = (): Promise<boolean> => isInEffect(t, call)
  const timeoutMs = t.patience.receiptMs()
  let seenAt: number | undefined
  let minedAt: number | undefined
  const unknown = await t.once('relay.unknown hashes', async () => ({ count: 0 }))
  const waitMs = graceMs[unknown.count === 0 ? 0 : 1]
  let mined: Settled | undefined
  const look = createReceiptLook(t, hash)
  const polled = await poll(async (): Promise<Settled | undefined> => {
    const receipt = await look()
    if (receipt) {
      mined = { receipt, isExecuted: await isExecuted() }
      minedAt ??= ourTimeMs()
      // Behind one URL several nodes may answer, one of which does not have the block yet.
      const mayBeBehind = receipt.status === '0x1' && !mined.isExecuted && ourTimeMs() - minedAt < behindMs
      return mayBeBehind ? undefined : mined
    }
    if (seenAt === undefined && (await isExecuted())) seenAt = ourTimeMs()
    return seenAt !== undefined && ourTimeMs() - seenAt > waitMs ? { receipt: undefined, isExecuted: true } : undefined
  }, timeoutMs)
  const settled = polled ?? mined
  if (settled?.receipt === undefined) unknown.count++
  if (settled) return settled
  await requireMined(t, hash, timeoutMs)
  t.patience.disappointed()
  return { receipt: undefined, isExecuted: seenAt !== undefined }
}

/** @throws Untestable when the chain knows the transaction and has not mined it in time */
async function requireMined(t: CheckContext, hash: string, timeoutMs: number): Promise<void> {
  if (await t.chain.send('eth_getTransactionByHash', [hash])) {
    throw new Untestable(`the transaction ${hash} is still pending after ${timeoutMs / 1000} s`)
  }
}

/**
 * Waits until the transaction is mined.
 *
 * @param timeoutMs absent: as long as the run waits for transactions
 * @returns undefined when the chain does not come to know the transaction in time
 * @throws Untestable when the chain knows it and does not mine it in time
 */
export async function waitForReceipt(t: CheckContext, hash: string, timeoutMs?: number): Promise<Receipt | undefined> {
  const waitMs = timeoutMs ?? t.patience.receiptMs()
  const receipt = await poll(createReceiptLook(t, hash), waitMs)
  if (receipt) return receipt
  await requireMined(t, hash, waitMs)
  // A hash for which the caller limits the wait may be none that the target promised.
  if (timeoutMs === undefined) t.patience.disappointed()
  return undefined
}

/** Adds to each transaction its outcome and its cost, as far as the chain tells them. */
export function describeTransactions(
  chain: ChainTruth,
  transactions: SpendingAccount['transactions'],
): Promise<CausedTransaction[]> {
  return Promise.all(
    transactions.map(async (caused): Promise<CausedTransaction> => {
      try {
        const receipt = (await chain.send('eth_getTransactionReceipt', [caused.hash])) as Receipt | null
        if (!receipt) return { ...caused, status: 'not found' }
        const gasUsed = BigInt(receipt.gasUsed)
        return {
          ...caused,
          status: receipt.status === '0x1' ? 'succeeded' : 'reverted',
          gasUsed: String(gasUsed),
          ...(receipt.effectiveGasPrice ? { feeWei: String(gasUsed * BigInt(receipt.effectiveGasPrice)) } : {}),
        }
      } catch (error) {
        if (error instanceof Untestable) return caused
        throw error
      }
    }),
  )
}

interface Part {
  readonly signature: string
  readonly nonce: bigint
  readonly payload: string
}

/** The relay calls in the call data of a key manager; empty for another function. */
function relayCallsIn(input: string): Part[] {
  const parsed = keyManagerAbi.parseTransaction({ data: input })
  if (parsed?.name === 'executeRelayCall') {
    const [signature, nonce, , payload] = parsed.args as unknown as [string, bigint, bigint, string]
    return [{ signature, nonce, payload }]
  }
  if (parsed?.name === 'executeRelayCallBatch') {
    const [signatures, nonces, , , payloads] = parsed.args as unknown as [
      string[],
      bigint[],
      bigint[],
      bigint[],
      string[],
    ]
    return signatures.map((signature, index) => ({
      signature,
      nonce: nonces[index] ?? -1n,
      payload: payloads[index] ?? '',
    }))
  }
  return []
}

/** r and s of a signature. `v` is left out, since relays write it in several ways. */
function pointOf(signature: string): string {
  return dataSlice(signature, 0, 64).toLowerCase()
}

/** Selectors of functions that only key managers from before LSP25 have. */
const olderFunctions: Readonly<Record<string, string>> = Object.fromEntries(
  ['executeRelayCall(bytes,uint256,bytes)', 'executeRelayCall(address,uint256,bytes,bytes)'].map((name) => [
    id(name).slice(0, 10),
    name,
  ]),
)

function nameOf(input: string): string {
  const selector = input.slice(0, 10)
  const older = olderFunctions[selector]
  if (older !== undefined) return `${older}, of key managers from before LSP25`
  return `call data ${selector}… of ${(input.length - 2) / 2} bytes`
}

/** Whether the profile logged in the transaction what the call did: the data key that changed, or who was called. */
function hasEvent(t: CheckContext, { payee, key }: RelayCall, { logs }: Receipt): boolean {
  const [event, position, value] =
    payee === undefined ? ['DataChanged', 1, key] : ['Executed', 2, zeroPadValue(payee, 32)]
  const topic = profileAbi.getEvent(event)?.topicHash
  const profile = t.fixture.profile.address.toLowerCase()
  return logs.some(
    ({ address, topics }) =>
      address.toLowerCase() === profile && topics[0] === topic && topics[position]?.toLowerCase() === value,
  )
}

/** The fault of a hash that was told for a call, where its transaction did not change the profile; undefined: it did. */
export function otherTransactionFault(
  t: CheckContext,
  call: RelayCall,
  receipt: Receipt,
  answer: Answer,
): Fault | undefined {
  if (hasEvent(t, call, receipt)) return undefined
  return new Fault('transactionHash is the hash of another transaction', {
    expected: 'the hash of the transaction that changed the profile',
    actual: `${receipt.transactionHash}, in which the profile does not do it: ${describeEffect(call)}`,
    answer,
    of: 'relay.execute.hash-of-transaction',
  })
}

function reverted({ transactionHash, status }: Receipt, answer: Answer): Fault {
  return new Fault('the transaction of a valid call reverted', {
    expected: 'a transaction that executes the call on the profile',
    actual: `status ${status} of ${transactionHash}`,
    answer,
    of: 'relay.execute.on-behalf',
  })
}

/**
 * Checks that the transaction carries the signed call to the key manager. A transaction to another contract is
 * judged by its effects: only executeRelayCall counts the controller's nonce, and the key manager logs whose
 * permissions it verified.
 *
 * @returns the fault of relay.execute.execute-relay-call, or of relay.execute.on-behalf when the transaction
 * reverted; undefined when there is none
 */
export async function relayTransactionFault(
  t: CheckContext,
  call: RelayCall,
  receipt: Receipt,
  answer: Answer,
): Promise<Fault | undefined> {
  const { keyManager, nonce, payload } = call.message
  const { to, input } = (await t.chain.send('eth_getTransactionByHash', [receipt.transactionHash])) as {
    to: string | null
    input: string
  }
  const fault = (message: string, expected: string, actual: string): Fault =>
    new Fault(message, { expected, actual, answer, of: 'relay.execute.execute-relay-call' })
  if (to?.toLowerCase() === keyManager.toLowerCase()) {
    const isSame = relayCallsIn(input).some(
      (part) =>
        part.nonce === nonce &&
        part.payload === payload.toLowerCase() &&
        pointOf(part.signature) === pointOf(call.signature),
    )
    if (isSame) return receipt.status === '0x1' ? undefined : reverted(receipt, answer)
    const expected = 'executeRelayCall with the signature, nonce and payload of the request'
    return fault('the transaction does not relay the signed call', expected, nameOf(input))
  }
  if (receipt.status !== '0x1') return reverted(receipt, answer)
  const counted = (await readNonce(t.chain, keyManager, call.controller.address, nonce >> 128n)) > nonce
  const verified = keyManagerAbi.getEvent('PermissionsVerified')?.topicHash
  const signer = call.controller.address.slice(2).toLowerCase()
  const isNamed = receipt.logs.some(
    ({ address, topics }) =>
      address.toLowerCase() === keyManager.toLowerCase() && topics[0] === verified && topics[1]?.endsWith(signer),
  )
  if (!counted || !isNamed) {
    const expected = `executeRelayCall on ${keyManager}, which counts the nonce of the controller`
    const actual = `a transaction to ${to ?? 'no address (a creation)'}`
    return fault('the transaction does not call the key manager with the signed call', expected, actual)
  }
  t.observe('executeRelayCall is called through another contract')
  return undefined
}
