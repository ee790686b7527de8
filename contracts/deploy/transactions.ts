import { parseEther, type Provider, type Signer, type TransactionReceipt, type TransactionRequest } from 'ethers'
import { setTimeout as sleep } from 'node:timers/promises'

/** Hashes of mined transactions, by what they are for. A chain that does not take a kind has none of it. */
export type SeededTransactions = {
  /** Of type 0. */
  readonly legacy?: string
  /** Of type 1, with an address and a storage key in its list. */
  readonly accessList?: string
  /** Of type 2. */
  readonly dynamicFee?: string
  /** Mined, without an effect. */
  readonly reverted?: string
  /** Creates a contract. */
  readonly creation?: string
  /** Sends a number of wei that a double cannot hold, to the sender itself. */
  readonly largeValue?: string
}

type Kind = keyof SeededTransactions

const MINING_TIMEOUT_MS = 180_000
/** A call that is refused by the contract uses a fraction of it. */
const CALL_GAS = 100_000n

/** No function of the log emitter. */
const UNKNOWN_FUNCTION = '0xdeadbeef'

/** As much as a quarter of what the sender has, with digits down to the last wei; undefined when that is too little. */
function largeValue(balance: bigint): bigint | undefined {
  const most = parseEther('1.234567890123456789')
  const value = balance / 4n < most ? (balance / 4n) | 1n : most
  return BigInt(Number(value)) === value ? undefined : value
}

async function minedReceipt(provider: Provider, hash: string): Promise<TransactionReceipt> {
  const deadline = Date.now() + MINING_TIMEOUT_MS
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, 1000)) {
    const receipt = await provider.getTransactionReceipt(hash)
    if (receipt) return receipt
    if (Date.now() > deadline) throw new Error(`transaction ${hash} was not mined in ${MINING_TIMEOUT_MS / 1000} s`)
    await sleep(pauseMs)
  }
}

/**
 * Sends one transaction of each kind that the chain takes, one after the other: clients meet them all, and a quiet chain
 * shows none of them.
 *
 * @param signer nobody else uses its account meanwhile
 * @param contract refuses functions that it does not know, and has a storage slot 0
 */
export async function seedTransactions(signer: Signer, contract: string): Promise<SeededTransactions> {
  const provider = signer.provider
  if (!provider) throw new TypeError('the signer needs a provider')
  const from = await signer.getAddress()
  const [{ gasPrice, maxFeePerGas, maxPriorityFeePerGas }, balance] = await Promise.all([
    provider.getFeeData(),
    provider.getBalance(from),
  ])
  const priced = { gasPrice, gasLimit: CALL_GAS }
  const dynamic = { maxFeePerGas, maxPriorityFeePerGas, gasLimit: CALL_GAS }
  const storageKeys = [`0x${'0'.repeat(64)}`]
  const value = largeValue(balance)
  const transactions: Partial<Record<Kind, TransactionRequest>> = {
    legacy: { ...priced, type: 0, to: from, value: 1n },
    accessList: { ...priced, type: 1, to: from, value: 1n, accessList: [{ address: contract, storageKeys }] },
    ...(maxFeePerGas === null ? {} : { dynamicFee: { ...dynamic, type: 2, to: from, value: 1n } }),
    reverted: { ...priced, type: 0, to: contract, data: UNKNOWN_FUNCTION },
    ...(value === undefined ? {} : { largeValue: { ...priced, type: 0, to: from, value } }),
  }
  const hashes: Partial<Record<Kind, string>> = {}
  let nonce = await provider.getTransactionCount(from, 'pending')
  for (const [kind, transaction] of Object.entries(transactions) as [Kind, TransactionRequest][]) {
    // A chain refuses types that are younger than its rules: its fixture is without them.
    const sent = await signer.sendTransaction({ ...transaction, nonce }).catch(() => undefined)
    if (!sent) continue
    nonce += 1
    hashes[kind] = (await minedReceipt(provider, sent.hash)).hash
  }
  return hashes
}
