import { hashMessage, recoverAddress, solidityPackedKeccak256, Wallet } from 'ethers'
import type { Account } from '../../lib/fixture.ts'
import { signQuota } from '../../lib/relay/message.ts'
import { type Alteration, type AlteredRequest, type AlteredTools, type Handler, respond, withJson } from '../define.ts'
import { requestObject } from './relay.ts'

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

/** A request that the reference server serves at this moment. */
export function validQuota(request: AlteredRequest, { fixture }: AlteredTools): AlteredRequest {
  const message = { address: fixture.profile.address, timestamp: nowSeconds() }
  return withJson(request, { ...message, signature: signQuota(message, fixture.controllers.full) })
}

/** The address that signed the body for this timestamp; undefined when none can be recovered. */
export function quotaSigner(request: AlteredRequest, timestamp: unknown): string | undefined {
  const { address, signature } = requestObject(request)
  if (typeof address !== 'string' || typeof signature !== 'string') return undefined
  try {
    const packed = solidityPackedKeccak256(['address', 'uint256'], [address, timestamp])
    return recoverAddress(hashMessage(Buffer.from(packed.slice(2), 'hex')), signature).toLowerCase()
  } catch {
    return undefined
  }
}

/** Goes on to serve a controller for some time after the reference server served it last, whatever became of its permissions. */
export function keepsPermissions(keptMs: number): Handler {
  return async (request, forward, tools) => {
    const { address, timestamp } = requestObject(request)
    const isFresh = Number.isInteger(timestamp) && Math.abs(nowSeconds() - Number(timestamp)) <= 5
    const signer = address === tools.fixture.profile.address ? quotaSigner(request, timestamp) : undefined
    const response = await forward(request)
    if (signer === undefined || !isFresh) return response
    const servedMs = tools.memory.get(signer) as number | undefined
    if (response.status === 200) tools.memory.set(signer, Date.now())
    const isKept = servedMs !== undefined && Date.now() - servedMs < keptMs
    return response.status !== 200 && isKept ? forward(validQuota(request, tools)) : response
  }
}

/** Whether the account signed the body for this timestamp; absent: the timestamp in the body. */
export function isQuotaSignedBy(
  account: Account,
  request: AlteredRequest,
  timestamp = requestObject(request)['timestamp'],
): boolean {
  return quotaSigner(request, timestamp) === account.address.toLowerCase()
}

/** Whether the controller with every permission asks for its own profile. */
export function isQuotaOfFull(request: AlteredRequest, { fixture }: AlteredTools): boolean {
  const { address } = requestObject(request)
  const isProfile = String(address).toLowerCase() === fixture.profile.address.toLowerCase()
  return isProfile && isQuotaSignedBy(fixture.controllers.full, request)
}

/**
 * The request with the time of the reference server. The same controller signs it again; for another signer, a
 * stranger does.
 */
function shifted(request: AlteredRequest, { fixture }: AlteredTools, seconds: number): AlteredRequest {
  const body = requestObject(request)
  const { address, timestamp, signature } = body
  if (typeof address !== 'string' || typeof timestamp !== 'number' || !Number.isInteger(timestamp)) return request
  if (typeof signature !== 'string') return request
  const signer = quotaSigner(request, timestamp)
  const key = Object.values(fixture.controllers).find((one) => one.address.toLowerCase() === signer)
  const message = { address, timestamp: timestamp - seconds }
  try {
    return withJson(request, { ...body, ...message, signature: signQuota(message, key ?? Wallet.createRandom()) })
  } catch {
    // A value that is no address cannot be signed, so the server gets the request as it is.
    return request
  }
}

/**
 * A service whose clock is off.
 *
 * @param seconds how far the clock is ahead; negative: behind
 * @param date whether answers have a Date header
 */
export function clockOff(seconds: number, date: 'with date' | 'without date'): Alteration {
  return {
    async every(request, forward) {
      const response = await forward(request)
      const headers = Object.fromEntries(Object.entries(response.headers).filter(([name]) => name !== 'date'))
      const told = date === 'with date' ? { date: new Date(Date.now() + seconds * 1000).toUTCString() } : {}
      return { ...response, headers: { ...headers, ...told } }
    },
    quota: (request, forward, tools) => forward(shifted(request, tools, seconds)),
  }
}

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

/** How a relay counts what the calls of a profile use. */
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
