import { respond, type AlteredTools, type Alteration } from '../define.ts'

interface Mined {
  readonly gasUsed: bigint
  readonly priceWei: bigint
  readonly block: bigint
}

/** A call that the relay accepted, and its transaction on the chain. */
interface Entry {
  readonly hash: string
  readonly takenAtMs: number
  receipt?: Mined | undefined
}

export interface Books {
  /** What the profile may use until the next reset, in the exact unit. */
  readonly total: bigint
  readonly unit: 'gas' | 'lyx' | 'transactionCount'
  /** What a mined transaction used. */
  readonly cost: (receipt: { readonly gasUsed: bigint; readonly priceWei: bigint }) => bigint
  /** The amount that the relay sets aside from accepting a call until booking it; absent: nothing. */
  readonly reserve?: bigint
  /** How long after accepting a call the relay gives the reservation back; absent: when it books the call. */
  readonly releasedAfterMs?: number
  /** How many calls cost nothing; absent: none. */
  readonly free?: number
  /** How long after accepting a call the relay books its transaction; absent: at once. */
  readonly bookedAfterMs?: number
  /** How many blocks after its own the relay books a transaction; absent: none. */
  readonly bookedAfterBlocks?: bigint
  /** How an amount is written; absent: as an integer. */
  readonly show?: (amount: bigint) => unknown
  /** Changes the whole answer in the end. */
  readonly alter?: (answer: Readonly<Record<string, unknown>>) => object
}

async function head(tools: AlteredTools): Promise<bigint> {
  return BigInt(String(await tools.chain('eth_blockNumber')))
}

async function readReceipt(tools: AlteredTools, hash: string): Promise<Mined | undefined> {
  const receipt = (await tools.chain('eth_getTransactionReceipt', [hash])) as Record<string, string> | null
  if (!receipt) return undefined
  const { gasUsed = '0x0', effectiveGasPrice = '0x0', blockNumber = '0x0' } = receipt
  return {
    gasUsed: BigInt(gasUsed),
    priceWei: BigInt(effectiveGasPrice),
    block: BigInt(blockNumber),
  }
}

/** A relay that counts in its own way what the calls through it used. */
export function keepsBooks(books: Books): Required<Pick<Alteration, 'execute' | 'quota'>> {
  const { total, unit, cost, reserve = 0n, bookedAfterMs = 0, bookedAfterBlocks = 0n, free = 0 } = books
  const { releasedAfterMs = Infinity } = books
  const { show = (amount) => amount, alter = (answer) => answer } = books
  const entriesOf = ({ memory }: AlteredTools): Entry[] => {
    const entries = (memory.get('entries') ?? []) as Entry[]
    memory.set('entries', entries)
    return entries
  }

  async function used(tools: AlteredTools): Promise<bigint> {
    let sum = 0n
    for (const entry of entriesOf(tools).slice(free)) {
      const receipt = (entry.receipt ??= await readReceipt(tools, entry.hash))
      const isLate = Date.now() - entry.takenAtMs < bookedAfterMs
      const isYoung = receipt !== undefined && (await head(tools)) - receipt.block < bookedAfterBlocks
      const reserved = Date.now() - entry.takenAtMs < releasedAfterMs ? reserve : 0n
      sum += receipt === undefined || isLate || isYoung ? reserved : cost(receipt)
    }
    return sum
  }

  return {
    async execute(request, forward, tools) {
      const response = await forward(request)
      const { transactionHash: hash } = (response.json ?? {}) as { transactionHash?: unknown }
      const entries = entriesOf(tools)
      if (typeof hash === 'string' && !entries.some((entry) => entry.hash === hash)) {
        entries.push({ hash, takenAtMs: Date.now() })
      }
      return response
    },
    async quota(request, forward, tools) {
      const response = await forward(request)
      if (response.status !== 200) return response
      const { resetDate } = response.json as { resetDate?: unknown }
      const quota = show(total - (await used(tools)))
      return respond(
        200,
        alter({ quota, unit, totalQuota: show(total), ...(resetDate === undefined ? {} : { resetDate }) }),
      )
    },
  }
}
