/** A log entry, as `POST /api/eth-rpc` gives it. */
export interface WalkedLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly blockHash: string
  readonly blockNumber: string
  readonly transactionHash: string
  readonly transactionIndex: string
  readonly logIndex: string
  readonly removed?: boolean
}

/** Asks the service, as wallets and clients do (EIP-1193). */
export type Request = (call: { readonly method: 'eth_getLogs'; readonly params: [object] }) => Promise<unknown>

/** The document's limit: a page with fewer entries is the last one. */
const PAGE_LENGTH = 1000

/**
 * Every log that a filter selects, page by page (eth-rpc.eth_getLogs.next-page), in ascending order. A page is asked for
 * only when the one before is used up: whoever reads slowly is not overrun.
 *
 * @param request with ethers `({ method, params }) => provider.send(method, params)`, with viem `client.request`
 * @param filter of eth_getLogs; give it a `toBlock` by number for a walk that ends where it was meant to
 * @throws Error when the service answers a page out of order, as one does that ignores the paging keys; what `request`
 *   throws as it is, among it the error -32001 when the chain was reorganised below the walk
 *
 * @example
 * for await (const log of walkLogs(request, { address, fromBlock: '0x0', toBlock: '0x3e8' })) console.log(log.data)
 */
export async function* walkLogs(request: Request, filter: object): AsyncGenerator<WalkedLog, void, undefined> {
  let last: WalkedLog | undefined
  for (;;) {
    const paging = last && { paging_options: { logIndex: last.logIndex, blockNumber: last.blockNumber } }
    const page = (await request({ method: 'eth_getLogs', params: [{ ...filter, ...paging }] })) as WalkedLog[]
    for (const log of page) {
      if (last && !isAfter(log, last)) throw new Error('the service does not page: it repeats what it has sent')
      last = log
      yield log
    }
    if (page.length < PAGE_LENGTH) return
  }
}

function isAfter(log: WalkedLog, last: WalkedLog): boolean {
  const [block, lastBlock] = [BigInt(log.blockNumber), BigInt(last.blockNumber)]
  return block > lastBlock || (block === lastBlock && BigInt(log.logIndex) > BigInt(last.logIndex))
}
