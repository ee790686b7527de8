import { UpstreamRpcError, type Upstream } from '../../services/node/upstream.ts'

interface Block {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
}

interface NodeFilter {
  readonly fromBlock: string
  readonly toBlock: string
  readonly address?: string | string[]
  readonly topics?: (null | string | string[])[]
}

export const ADDRESSES = ['a1', 'a2'].map((byte) => `0x${byte.repeat(20)}`)
export const TOPICS = ['b1', 'b2', 'b3'].map((byte) => `0x${byte.repeat(32)}`)

/**
 * A chain whose timing and history a test decides: what a node answers while it is slow, reorganised or wrong. Values are
 * read when a call is made and told when it is released, as from a node far away.
 */
export class ScriptedChain implements Upstream {
  blocks: Block[] = []
  clientVersion = 'Geth/v1.16.0'
  balance = 0n
  readonly receipts = new Map<string, string>()
  /** How many logs a block has; their addresses and first topics take turns. */
  logsIn: (block: number) => number = () => 0
  /** Throws to refuse a call of eth_getLogs that would be answered with so many logs of so many blocks. */
  refuseLogs: (logs: number, blocks: number, filter: unknown) => void = () => {}
  readonly calls: { readonly method: string; readonly params: readonly unknown[] }[] = []
  #held: (() => void)[] | undefined
  #heldMethod: string | undefined
  #forks = 0

  constructor(height: number) {
    this.mine(height + 1)
  }

  get height(): number {
    return this.blocks.length - 1
  }

  mine(count = 1): void {
    for (let index = 0; index < count; index++) {
      const number = this.blocks.length
      const hash = this.#hash(number)
      this.blocks.push({ number: quantity(number), hash, parentHash: this.blocks.at(-1)?.hash ?? hash })
    }
  }

  /** Takes blocks back; what is mined afterwards has other hashes. */
  rewind(count: number): void {
    this.#forks++
    this.blocks.splice(-count)
  }

  /** From now on calls are answered only when they are released; of one method, or all. */
  hold(method?: string): void {
    this.#held = []
    this.#heldMethod = method
  }

  get heldCount(): number {
    return this.#held?.length ?? 0
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const answer of held) answer()
  }

  /** Answers the call that was made last. */
  releaseLatest(): void {
    this.#held?.pop()?.()
  }

  asked(method: string): number {
    return this.calls.filter((call) => call.method === method).length
  }

  forget(): void {
    this.calls.length = 0
  }

  async request<Result>(method: string, params: readonly unknown[]): Promise<Result> {
    this.calls.push({ method, params })
    const result = this.#answer(method, params)
    await new Promise<void>((resolve) => {
      if (this.#held && (this.#heldMethod ?? method) === method) this.#held.push(resolve)
      else resolve()
    })
    return result as Result
  }

  async close(): Promise<void> {}

  #answer(method: string, [first]: readonly unknown[]): unknown {
    switch (method) {
      case 'web3_clientVersion':
        return this.clientVersion
      case 'eth_chainId':
        return '0x1'
      case 'eth_gasPrice':
        return quantity(this.height + 1)
      case 'eth_getBalance':
        return `0x${this.balance.toString(16)}`
      case 'eth_getBlockByNumber':
        return (first === 'latest' ? this.blocks.at(-1) : this.blocks[Number(first)]) ?? null
      case 'eth_getTransactionReceipt':
        return this.#receipt(String(first))
      case 'eth_getLogs':
        return this.#logs(first as NodeFilter)
      default:
        throw new UpstreamRpcError({ code: -32601, message: `no ${method}` })
    }
  }

  #logs(filter: NodeFilter): unknown[] {
    const { fromBlock, toBlock, address, topics: [topic] = [] } = filter
    const [from, to] = [Number(fromBlock), Math.min(Number(toBlock), this.height)]
    const blocks = this.blocks.slice(from, to + 1)
    const isWanted = (wanted: undefined | null | string | string[], value: string) =>
      wanted === undefined || wanted === null || [wanted].flat().includes(value)
    const found = blocks.flatMap(({ number, hash }) =>
      Array.from({ length: this.logsIn(Number(number)) }, (_, index) => ({
        address: ADDRESSES[index % 2],
        topics: [TOPICS[index % 3]],
        data: '0x',
        blockHash: hash,
        blockNumber: number,
        transactionHash: hash,
        transactionIndex: '0x0',
        logIndex: quantity(index),
        removed: false,
      })),
    )
    const logs = found.filter((log) => isWanted(address, log.address ?? '') && isWanted(topic, log.topics[0] ?? ''))
    this.refuseLogs(logs.length, to - from + 1, filter)
    return logs
  }

  #receipt(transactionHash: string): unknown {
    const block = this.blocks.find(({ hash }) => hash === this.receipts.get(transactionHash))
    return block ? { ...receipt, transactionHash, blockHash: block.hash, blockNumber: block.number } : null
  }

  #hash(number: number): string {
    return `0x${this.#forks.toString(16).padStart(8, '0')}${number.toString(16).padStart(56, '0')}`
  }
}

/** What all receipts have in common. */
const receipt = {
  type: '0x0',
  transactionIndex: '0x0',
  from: ADDRESSES[0],
  to: ADDRESSES[1],
  cumulativeGasUsed: '0x5208',
  gasUsed: '0x5208',
  contractAddress: null,
  logs: [],
  logsBloom: `0x${'00'.repeat(256)}`,
  status: '0x1',
  effectiveGasPrice: '0x1',
}

const quantity = (value: number) => `0x${value.toString(16)}`
