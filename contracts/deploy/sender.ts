import {
  getCreateAddress,
  type FeeData,
  type JsonRpcApiProvider,
  type Provider,
  type Signer,
  type TransactionRequest,
} from 'ethers'
import { setTimeout as sleep } from 'node:timers/promises'

/** The longest wait for a transaction to be mined. */
const MINING_TIMEOUT_MS = 180_000
/** The fees and the gas limit of blocks are read again after this time. */
const TERMS_VALID_MS = 5_000
/**
 * The gas limit is higher than the estimate by so much. The state can change between the estimate and the block; and some nodes
 * (EthereumJS) return what is used after refunds, which are at most a fifth (EIP-3529), without what each inner call holds back
 * (EIP-150).
 */
const GAS_MARGIN_PERCENT = 50n

/** A transaction in its block. */
export interface MinedTransaction {
  readonly hash: string
  readonly blockNumber: number
  readonly gasUsed: bigint
  readonly succeeded: boolean
}

/** Sends the transactions of one account, in the order of the calls. */
export interface Sender {
  readonly address: string
  readonly provider: Provider
  /** Broadcasts a transaction, and does not wait for its receipt. @returns the hash */
  send(transaction: TransactionRequest): Promise<string>
  /** Broadcasts the creation of a contract. Its address is known immediately; `deployed` settles when it is mined. */
  deploy(creationCode: string, valueWei?: bigint): { address: string; deployed: Promise<MinedTransaction> }
  /** @throws Error if the transaction reverted or was not mined in time */
  mined(hash: string): Promise<MinedTransaction>
}

/**
 * Makes a sender, which sends many transactions quickly: it counts the nonces itself and waits for no receipt in between. It
 * broadcasts one transaction after the other, because a node that mines immediately refuses a nonce gap. Nobody else may use
 * the account meanwhile.
 */
export async function createSender(signer: Signer): Promise<Sender> {
  const provider = signer.provider
  if (!provider) throw new TypeError('the signer needs a provider')
  const address = await signer.getAddress()
  let nonce = await provider.getTransactionCount(address, 'pending')
  const terms = cachedTerms(provider)
  let lastBroadcast: Promise<unknown> = Promise.resolve()

  async function broadcast(transaction: TransactionRequest, sendNonce: number): Promise<string> {
    const estimate = await signer.estimateGas({ ...transaction, from: address })
    const { fees, blockGasLimit } = await terms()
    const wanted = (estimate * (100n + GAS_MARGIN_PERCENT)) / 100n
    const gasLimit = wanted < blockGasLimit ? wanted : blockGasLimit
    const sent = await signer.sendTransaction({ ...fees, ...transaction, gasLimit, nonce: sendNonce })
    return sent.hash
  }

  function send(transaction: TransactionRequest): Promise<string> {
    const sendNonce = nonce++
    const sending = lastBroadcast.then(() => broadcast(transaction, sendNonce))
    // After a failed broadcast a nonce is missing. The node refuses later transactions, and each caller gets its own error.
    lastBroadcast = sending.catch(() => undefined)
    return sending
  }

  const mined = async (hash: string) => {
    const transaction = await minedTransaction(provider, hash)
    if (!transaction.succeeded) throw new Error(`transaction ${hash} reverted`)
    return transaction
  }
  return {
    address,
    provider,
    send,
    mined,
    deploy(creationCode, valueWei = 0n) {
      const created = getCreateAddress({ from: address, nonce })
      return { address: created, deployed: send({ data: creationCode, value: valueWei }).then(mined) }
    },
  }
}

/**
 * Waits until a transaction is mined. `wait()` of ethers would ask only every four seconds. The receipt is read as the node
 * tells it: ethers checks and converts each of its logs, of which a fixture has thousands.
 *
 * @throws Error it was not mined in time
 */
export async function minedTransaction(provider: Provider, hash: string): Promise<MinedTransaction> {
  const rpc = provider as Provider & Pick<JsonRpcApiProvider, 'send'>
  const deadline = Date.now() + MINING_TIMEOUT_MS
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, 1000)) {
    const receipt = (await rpc.send('eth_getTransactionReceipt', [hash])) as Receipt | null
    if (receipt) {
      const { blockNumber, gasUsed, status } = receipt
      return { hash, blockNumber: Number(blockNumber), gasUsed: BigInt(gasUsed), succeeded: status !== '0x0' }
    }
    if (Date.now() > deadline) throw new Error(`transaction ${hash} was not mined in ${MINING_TIMEOUT_MS / 1000} s`)
    await sleep(pauseMs)
  }
}

/** As much of a node's receipt as is read here. */
interface Receipt {
  readonly blockNumber: string
  readonly gasUsed: string
  /** Absent before the fork Byzantium. */
  readonly status?: string
}

/** What a chain demands of transactions now. */
interface Terms {
  readonly fees: TransactionRequest
  readonly blockGasLimit: bigint
}

function cachedTerms(provider: Provider): () => Promise<Terms> {
  let known: { terms: Terms; atMs: number } | undefined
  return async () => {
    if (!known || Date.now() - known.atMs > TERMS_VALID_MS) {
      const [fees, block] = await Promise.all([provider.getFeeData(), provider.getBlock('latest')])
      if (!block) throw new Error('the node tells no latest block')
      known = { terms: { fees: toFees(fees), blockGasLimit: block.gasLimit }, atMs: Date.now() }
    }
    return known.terms
  }
}

function toFees({ maxFeePerGas, maxPriorityFeePerGas, gasPrice }: FeeData): TransactionRequest {
  return maxFeePerGas === null ? { type: 0, gasPrice } : { type: 2, maxFeePerGas, maxPriorityFeePerGas }
}
