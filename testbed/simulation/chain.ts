import { decodeRlp, encodeRlp } from 'ethers'
import type { BundlerCall } from '../../contracts/deploy/bundler.ts'
import { max, min } from '../../server/ethereum/bigint.ts'
import { divideGas } from '../../server/ethereum/bundle.ts'
import { hexBytes, toHex, word, keccak, recoverSigner } from '../../server/ethereum/signature.ts'
import { transactionGas } from '../../server/ethereum/transaction.ts'
import {
  applyChange,
  BUNDLER_ADDRESS,
  bundledLog,
  bundleIn,
  executeBundle,
  ContractsModel,
  type ContractState,
  type Execution,
  type ModelProfile,
  type OwnerChange,
} from './contracts.ts'
import type { Random } from './random.ts'

export const CHAIN_ID = 4711n

/** A signed transaction of type 2, as nodes read it. Addresses are checksummed where we make them, else lower case. */
export interface Transaction {
  readonly hash: string
  readonly bytes: number
  readonly chainId: bigint
  readonly from: string
  readonly nonce: number
  readonly to: string
  readonly gasLimit: bigint
  readonly maxFeeWei: bigint
  readonly tipWei: bigint
  readonly data: string
  /** The relay calls that it carries, in order: see `callName`. */
  readonly calls: readonly string[]
}

export interface Receipt {
  readonly transaction: Transaction
  readonly succeeded: boolean
  readonly gasUsed: bigint
  readonly gasPriceWei: bigint
  /** One for each relay call that it carries. */
  readonly outcomes: readonly CallOutcome[]
  /** The logs of the bundler. */
  readonly logs: readonly { readonly address: string; readonly topics: readonly string[]; readonly data: string }[]
}

/** The outcome of a relay call in a transaction. */
export interface CallOutcome {
  readonly call: string
  readonly succeeded: boolean
  /** Its part of the gas of the receipt. */
  readonly gasUsed: bigint
  /** Gas that a transaction of its own would have used. */
  readonly gasAlone: bigint
  /** The first bytes of its revert data. */
  readonly revertData: string
}

export interface State extends ContractState {
  readonly nonces: Map<string, number>
  readonly balances: Map<string, bigint>
}

export interface Block {
  readonly number: number
  readonly hash: string
  readonly parent: Block | undefined
  /** Unix seconds. */
  readonly timestamp: number
  readonly baseFeeWei: bigint
  readonly gasLimit: bigint
  readonly receipts: readonly Receipt[]
  /** The state after the block. */
  readonly state: State
}

/** Somebody who copies transactions of others. */
export const STRANGER = '0x5757575757575757575757575757575757575757'

const GENESIS_FEE_WEI = 10n ** 9n
const LEAST_FEE_WEI = 10n ** 8n
const BLOCK_GAS = 30_000_000n

export interface ChainOptions {
  readonly profiles: readonly ModelProfile[]
  /** In wei, by address in lower case. */
  readonly balances: ReadonlyMap<string, bigint>
  /** Of the first block, Unix seconds. */
  readonly timestamp: number
  /** Of the contract `Bundler.sol`, hex. */
  readonly bundlerCode: string
}

/** The tree of blocks, and the block on which all nodes agree at the end. */
export class SimulatedChain {
  readonly contracts: ContractsModel
  /** The code of contracts, by address in lower case. The server compares the code, and not only whether there is any. */
  readonly codes: ReadonlyMap<string, string>
  /** The last block of the chain that stays, unless a reorganisation replaces it. */
  head: Block
  /** The factor by which the base fee is multiplied at the next block. */
  feeFactor = 1
  /** Transactions that no server sent and that the next block holds all the same: somebody else has the key. */
  foreign: { readonly from: string }[] = []
  /** Changes that owners of profiles make in the next block, before the other transactions. */
  changes: OwnerChange[] = []
  /** Accounts and nonces, `from/nonce`, that somebody else has used, if only in a block that is gone. */
  readonly stolen = new Set<string>()
  readonly #transactions = new Map<string, Transaction>()
  /** Transactions that a mempool accepted, by sender and nonce. */
  readonly #offered = new Map<string, Transaction[]>()
  #blocks = 0

  constructor({ profiles, balances, timestamp, bundlerCode }: ChainOptions) {
    this.codes = new Map([[BUNDLER_ADDRESS.toLowerCase(), bundlerCode]])
    this.contracts = new ContractsModel(CHAIN_ID, profiles)
    const state = {
      nonces: new Map(),
      balances: new Map(balances),
      channels: new Map(),
      switches: new Map(),
      owners: new Map(),
      permissions: new Map(),
    }
    this.head = {
      number: 0,
      hash: this.#nextHash(),
      parent: undefined,
      timestamp,
      baseFeeWei: GENESIS_FEE_WEI,
      gasLimit: BLOCK_GAS,
      receipts: [],
      state,
    }
  }

  /** @throws Error it is no transaction of type 2 */
  read(raw: string): Transaction {
    let transaction = this.#transactions.get(raw)
    if (!transaction) this.#transactions.set(raw, (transaction = this.#decode(raw)))
    return transaction
  }

  /** Remembers a transaction that a mempool accepted. Some miner has it, even after it is replaced. */
  offer(transaction: Transaction): void {
    const known = this.#offered.get(slotOf(transaction)) ?? []
    if (!known.includes(transaction)) this.#offered.set(slotOf(transaction), [...known, transaction])
  }

  /** All transactions that were offered for the nonce, this one among them. */
  rivalsOf(transaction: Transaction): readonly Transaction[] {
    return this.#offered.get(slotOf(transaction)) ?? [transaction]
  }

  /** A transaction of a stranger that carries the same calls: what calls carry and who signed them is public. */
  copyOf(transaction: Transaction, nonce: number): Transaction {
    const hash = toHex(keccak(hexBytes(transaction.hash), word(BigInt(nonce))))
    return { ...transaction, hash, nonce, from: STRANGER }
  }

  /**
   * Appends a block.
   *
   * @param offered in the order in which they are tried; those that cannot be executed are left out
   */
  mine(parent: Block, offered: readonly Transaction[], nowSeconds: number): Block {
    const state = cloneState(parent.state)
    const timestamp = Math.max(parent.timestamp + 1, nowSeconds)
    const baseFeeWei = this.#nextFee(parent)
    for (const { from } of this.foreign.splice(0)) {
      const nonce = state.nonces.get(from) ?? 0
      this.stolen.add(`${from}/${nonce}`)
      state.nonces.set(from, nonce + 1)
    }
    for (const change of this.changes.splice(0)) applyChange(state, change)
    const receipts: Receipt[] = []
    for (const transaction of offered) {
      const receipt = this.#execute(state, transaction, baseFeeWei, timestamp)
      if (receipt) receipts.push(receipt)
    }
    return {
      number: parent.number + 1,
      hash: this.#nextHash(),
      parent,
      timestamp,
      baseFeeWei,
      gasLimit: BLOCK_GAS,
      receipts,
      state,
    }
  }

  #execute(state: State, transaction: Transaction, baseFeeWei: bigint, timestamp: number): Receipt | undefined {
    const { from, to, nonce, maxFeeWei, tipWei, gasLimit, data, chainId } = transaction
    const balance = state.balances.get(from) ?? 0n
    if (chainId !== CHAIN_ID || nonce !== (state.nonces.get(from) ?? 0) || maxFeeWei < baseFeeWei) return undefined
    if (balance < gasLimit * maxFeeWei) return undefined
    const gasPriceWei = baseFeeWei + min(tipWei, maxFeeWei - baseFeeWei)
    // Without the least gas per byte (EIP-7623), which is charged at the end of a transaction.
    const intrinsicGas = transactionGas(data, BLOCK_GAS) - BLOCK_GAS
    if (transactionGas(data, 0n) > gasLimit) return undefined
    state.nonces.set(from, nonce + 1)
    const bundle = bundleIn(to, data)
    const at = { gas: gasLimit - intrinsicGas, timestamp }
    const done = bundle ? this.#runBundle(state, transaction, bundle, at) : this.#runCall(state, transaction, at)
    state.balances.set(from, balance - done.gasUsed * gasPriceWei)
    return { transaction, gasPriceWei, ...done }
  }

  /** Executes a transaction to a key manager, or one that only uses its nonce up. */
  #runCall(
    state: State,
    { to, data, gasLimit, calls: [call] }: Transaction,
    { gas, timestamp }: { gas: bigint; timestamp: number },
  ): Omit<Receipt, 'transaction' | 'gasPriceWei'> {
    const execution =
      data === '0x'
        ? { success: true, gasUsed: 0n, returnData: '0x' }
        : this.contracts.call(state, { to, data, gasLimit: gas, timestamp })
    const gasUsed = min(transactionGas(data, execution.gasUsed), gasLimit)
    const outcomes = call === undefined ? [] : [outcomeOf(call, execution, { gasUsed, gasAlone: gasUsed })]
    return { succeeded: execution.success, gasUsed, outcomes, logs: [] }
  }

  #runBundle(
    state: State,
    { data, gasLimit, calls }: Transaction,
    bundle: readonly BundlerCall[],
    at: { gas: bigint; timestamp: number },
  ): Omit<Receipt, 'transaction' | 'gasPriceWei'> {
    const { gasUsed: executionGas, results, executions } = executeBundle(this.contracts, state, bundle, at)
    const gasUsed = min(transactionGas(data, executionGas), gasLimit)
    const measured = results.map((result) => ({ ...result, succeeded: result.success }))
    const parts = divideGas(gasUsed, bundle, measured)
    const outcomes = calls.map((call, index) => {
      const execution = executions[index] ?? { success: false, gasUsed: 0n, returnData: '0x' }
      const gasAlone = transactionGas(bundle[index]?.data ?? '0x', execution.gasUsed)
      return outcomeOf(call, execution, { gasUsed: parts[index] ?? 0n, gasAlone })
    })
    return { succeeded: true, gasUsed, outcomes, logs: [bundledLog(results)] }
  }

  #nextFee(parent: Block): bigint {
    return max(BigInt(Math.floor(Number(parent.baseFeeWei) * this.feeFactor)), LEAST_FEE_WEI)
  }

  #nextHash(): string {
    return toHex(keccak(word(BigInt(++this.#blocks))))
  }

  #decode(raw: string): Transaction {
    if (!raw.startsWith('0x02')) throw new Error('not of type 2')
    const fields = decodeRlp(`0x${raw.slice(4)}`) as string[]
    const [chainId = '', nonce = '', tip = '', maxFee = '', gas = '', to = '', , data = '', , y = '', r = '', s = ''] =
      fields
    const digest = keccak(Buffer.from([2]), hexBytes(encodeRlp(fields.slice(0, 9))))
    const bytes = Buffer.from(`${r.slice(2).padStart(64, '0')}${s.slice(2).padStart(64, '0')}`, 'hex')
    const from = recoverSigner(digest, { bytes, recoveryId: y === '0x01' ? 1 : 0 })
    return {
      hash: toHex(keccak(hexBytes(raw))),
      bytes: raw.length / 2 - 1,
      chainId: integer(chainId),
      from: from.toLowerCase(),
      nonce: Number(integer(nonce)),
      to,
      gasLimit: integer(gas),
      maxFeeWei: integer(maxFee),
      tipWei: integer(tip),
      data,
      calls: (bundleIn(to, data) ?? [{ to, data }]).flatMap((one) => this.contracts.callIn(one.to, one.data) ?? []),
    }
  }
}

const slotOf = ({ from, nonce }: Transaction) => `${from} ${nonce}`

const outcomeOf = (
  call: string,
  { success, returnData }: Pick<Execution, 'success' | 'returnData'>,
  gas: Pick<CallOutcome, 'gasUsed' | 'gasAlone'>,
): CallOutcome => ({ call, succeeded: success, revertData: success ? '0x' : returnData.slice(0, 10), ...gas })

/** The block and the receipt of a transaction on the chain that ends with `head`. */
export function findReceipt(head: Block, hash: string): { block: Block; receipt: Receipt } | undefined {
  for (let block: Block | undefined = head; block; block = block.parent) {
    const receipt = block.receipts.find(({ transaction }) => transaction.hash === hash)
    if (receipt) return { block, receipt }
  }
  return undefined
}

/** The block with a number on the chain that ends with `head`. */
export function blockAt(head: Block, number: number): Block | undefined {
  let block: Block | undefined = head
  while (block && block.number > number) block = block.parent
  return block?.number === number ? block : undefined
}

/** All receipts on the chain that ends with `head`, the oldest first. */
export function receiptsUpTo(head: Block): { readonly block: Block; readonly receipt: Receipt }[] {
  const found: { block: Block; receipt: Receipt }[][] = []
  for (let block: Block | undefined = head; block; block = block.parent) {
    const { receipts } = block
    const own = block
    found.push(receipts.map((receipt) => ({ block: own, receipt })))
  }
  return found.reverse().flat()
}

/** The factor of the next base fee, which changes by an eighth at most (EIP-1559). */
export const driftOf = (random: Random) => random.between(0.9, 1.12)

export const cloneState = ({ nonces, balances, channels, switches, owners, permissions }: State): State => ({
  nonces: new Map(nonces),
  balances: new Map(balances),
  channels: new Map(channels),
  switches: new Map(switches),
  owners: new Map(owners),
  permissions: new Map(permissions),
})

const integer = (hex: string) => (hex === '0x' ? 0n : BigInt(hex))
