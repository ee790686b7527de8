import { UpstreamRpcError } from '../../server/services/node/upstream.ts'
import {
  blockAt,
  CHAIN_ID,
  cloneState,
  findReceipt,
  type Block,
  type SimulatedChain,
  type State,
  type Transaction,
} from './chain.ts'
import type { Random } from './random.ts'

/** The rules in which kinds of nodes differ. */
export interface NodeRules {
  /** Whether the mempool keeps a transaction whose nonce is not the next one. */
  readonly keepsGaps: boolean
  /** Whether transactions return to the mempool when a reorganisation drops their block. */
  readonly bringsBack: boolean
  /** Whether the node refuses a transaction that offers less than the base fee. */
  readonly wantsBaseFee: boolean
}

/** The most bytes of a transaction. */
const MOST_BYTES = 131_072
/** The least fees of a replacement, in per cent of the fees that were offered before for the same nonce. */
const REPLACEMENT_PERCENT = 110n

const refused = (message: string, code = -32000) => new UpstreamRpcError({ code, message })

/**
 * A node, with its view of the chain and its mempool. It answers immediately and truthfully. Delays and lies are made by
 * `network.ts`.
 */
export class SimulatedNode {
  readonly name: string
  readonly rules: NodeRules
  head: Block
  /** By sender, then by nonce. */
  readonly pool = new Map<string, Map<number, Transaction>>()
  /** Called for each transaction that the mempool accepts, so that other nodes get it. */
  onTaken: (transaction: Transaction) => void = () => {}
  readonly #chain: SimulatedChain

  constructor(name: string, chain: SimulatedChain, rules: NodeRules) {
    this.name = name
    this.rules = rules
    this.head = chain.head
    this.#chain = chain
  }

  /** @throws UpstreamRpcError */
  answer(method: string, params: readonly unknown[]): unknown {
    const [first, second, third] = params
    switch (method) {
      case 'eth_chainId':
        return quantity(CHAIN_ID)
      case 'eth_blockNumber':
        return quantity(this.head.number)
      case 'eth_getBlockByNumber':
        return blockJson(first === 'latest' ? this.head : blockAt(this.head, Number(first)))
      case 'eth_getTransactionCount':
        return quantity(second === 'pending' ? this.#nextNonce(String(first)) : this.#nonce(String(first)))
      case 'eth_getBalance':
        return quantity(this.head.state.balances.get(String(first).toLowerCase()) ?? 0n)
      case 'eth_maxPriorityFeePerGas':
        return quantity(10n ** 8n)
      case 'eth_gasPrice':
        return quantity(this.head.baseFeeWei + 10n ** 8n)
      case 'eth_getCode':
        return this.#chain.codes.get(String(first).toLowerCase()) ?? '0x6001'
      case 'web3_clientVersion':
        return 'Geth/v1.16.0-simulated'
      case 'eth_getTransactionByHash':
        return this.#transactionJson(String(first))
      case 'eth_getTransactionReceipt':
        return this.#receiptJson(String(first))
      case 'eth_sendRawTransaction':
        return this.#send(String(first))
      case 'eth_call':
        return this.#call(first as { data: string }, (third ?? {}) as Overrides)
      default:
        throw refused(`the method ${method} does not exist`, -32601)
    }
  }

  /** @returns why the mempool refuses the transaction; undefined: it accepts it, or has it already */
  take(transaction: Transaction): string | undefined {
    const { from, nonce, hash, gasLimit, maxFeeWei, tipWei } = transaction
    const own = this.pool.get(from) ?? new Map<number, Transaction>()
    const same = own.get(nonce)
    if (same?.hash === hash) return 'already known'
    if (transaction.chainId !== CHAIN_ID) return 'invalid chain id for signer'
    if (nonce < this.#nonce(from)) return 'nonce too low'
    if (transaction.bytes > MOST_BYTES) return 'oversized data'
    if (gasLimit > this.head.gasLimit) return 'exceeds block gas limit'
    if (tipWei > maxFeeWei) return 'max priority fee per gas higher than max fee per gas'
    if (this.rules.wantsBaseFee && maxFeeWei < this.head.baseFeeWei) return 'max fee per gas less than block base fee'
    if (!this.rules.keepsGaps && nonce > this.#nextNonce(from)) return 'nonce too high'
    const costWei = [...own.values()]
      .filter((one) => one.nonce !== nonce)
      .reduce((sum, one) => sum + one.gasLimit * one.maxFeeWei, gasLimit * maxFeeWei)
    if (costWei > (this.head.state.balances.get(from) ?? 0n)) return 'insufficient funds for gas * price + value'
    const isEnough = (now: bigint, before: bigint) => now * 100n >= before * REPLACEMENT_PERCENT
    if (same && !(isEnough(maxFeeWei, same.maxFeeWei) && isEnough(tipWei, same.tipWei)))
      return 'replacement transaction underpriced'
    this.pool.set(from, own.set(nonce, transaction))
    this.#chain.offer(transaction)
    this.onTaken(transaction)
    return undefined
  }

  /** Takes another block as the head. Transactions that are mined or void leave the mempool. */
  adopt(head: Block): void {
    const before = this.head
    this.head = head
    if (this.rules.bringsBack) {
      for (const { receipts, number } of blocksBetween(before, head)) {
        if (blockAt(head, number)?.receipts === receipts) continue
        for (const { transaction } of receipts) this.take(transaction)
      }
    }
    for (const [from, own] of this.pool) {
      for (const nonce of own.keys()) if (nonce < this.#nonce(from)) own.delete(nonce)
      if (own.size === 0) this.pool.delete(from)
    }
  }

  /** The transactions that the next block could hold, in an order that respects the nonces. */
  executable(random: Random): Transaction[] {
    const senders = random.shuffled([...this.pool.keys()].sort())
    return senders.flatMap((from) => {
      const own = this.pool.get(from)
      const found: Transaction[] = []
      for (let nonce = this.#nonce(from); ; nonce++) {
        const transaction = own?.get(nonce)
        if (!transaction) return found
        found.push(transaction)
      }
    })
  }

  #nonce(address: string): number {
    return this.head.state.nonces.get(address.toLowerCase()) ?? 0
  }

  /** The next nonce after those of the mempool, up to the first gap. */
  #nextNonce(address: string): number {
    const own = this.pool.get(address.toLowerCase())
    let nonce = this.#nonce(address)
    while (own?.has(nonce)) nonce++
    return nonce
  }

  #send(raw: string): string {
    let transaction: Transaction
    try {
      transaction = this.#chain.read(raw)
    } catch {
      throw refused('rlp: cannot decode the transaction', -32602)
    }
    const reason = this.take(transaction)
    if (reason !== undefined) throw refused(reason)
    return transaction.hash
  }

  #transactionJson(hash: string): unknown {
    const mined = findReceipt(this.head, hash)
    const waiting = [...this.pool.values()].flatMap((own) => [...own.values()]).find((one) => one.hash === hash)
    const transaction = mined?.receipt.transaction ?? waiting
    if (!transaction) return null
    return {
      hash,
      from: transaction.from,
      nonce: quantity(transaction.nonce),
      blockHash: mined?.block.hash ?? null,
      blockNumber: mined ? quantity(mined.block.number) : null,
    }
  }

  #receiptJson(hash: string): unknown {
    const mined = findReceipt(this.head, hash)
    if (!mined) return null
    return {
      transactionHash: hash,
      blockHash: mined.block.hash,
      blockNumber: quantity(mined.block.number),
      status: mined.receipt.succeeded ? '0x1' : '0x0',
      gasUsed: quantity(mined.receipt.gasUsed),
      effectiveGasPrice: quantity(mined.receipt.gasPriceWei),
      logs: mined.receipt.logs,
    }
  }

  /** Does the work of `server/services/simulator/sequences.yul`, which defines the format. */
  #call({ data }: { data: string }, overrides: Overrides): string {
    const input = Buffer.from(data.slice(2), 'hex')
    const results: Buffer[] = []
    let at = 1
    while (at < input.length) {
      const end = at + 4 + input.readUInt32BE(at)
      at += 4
      const state = cloneState(this.head.state)
      const outcomes: Buffer[] = []
      while (at < end) {
        const length = input.readUInt32BE(at + 28)
        const step = {
          to: `0x${input.toString('hex', at, at + 20)}`,
          gasLimit: input.readBigUInt64BE(at + 20),
          data: `0x${input.toString('hex', at + 32, at + 32 + length)}`,
        }
        at += 32 + length
        outcomes.push(this.#step(state, step, overrides))
      }
      const joined = Buffer.concat(outcomes)
      const size = Buffer.alloc(4)
      size.writeUInt32BE(joined.length)
      results.push(size, joined)
    }
    return `0x${Buffer.concat(results).toString('hex')}`
  }

  #step(state: State, step: { to: string; gasLimit: bigint; data: string }, overrides: Overrides): Buffer {
    const storage = Object.entries(overrides).find(([address]) => address.toLowerCase() === step.to)?.[1].stateDiff
    const { success, gasUsed, returnData } = this.#chain.contracts.call(
      state,
      { ...step, timestamp: this.head.timestamp },
      storage,
    )
    const returned = Buffer.from(returnData.slice(2), 'hex').subarray(0, 1024)
    const head = Buffer.alloc(32)
    head[0] = success ? 1 : 0
    head.writeBigUInt64BE(gasUsed, 8)
    head.writeUInt32BE(returned.length, 28)
    return Buffer.concat([head, returned])
  }
}

type Overrides = Readonly<Record<string, { readonly stateDiff?: Readonly<Record<string, string>> }>>

/** The blocks up to `from` that the chain of `to` does not have, the oldest first. */
function blocksBetween(from: Block, to: Block): Block[] {
  const found: Block[] = []
  for (let block: Block | undefined = from; block; block = block.parent) {
    if (blockAt(to, block.number) === block) break
    found.push(block)
  }
  return found.reverse()
}

function blockJson(block: Block | undefined): unknown {
  if (!block) return null
  return {
    number: quantity(block.number),
    hash: block.hash,
    parentHash: block.parent?.hash ?? `0x${'0'.repeat(64)}`,
    timestamp: quantity(block.timestamp),
    baseFeePerGas: quantity(block.baseFeeWei),
    gasLimit: quantity(block.gasLimit),
  }
}

const quantity = (value: number | bigint) => `0x${value.toString(16)}`
