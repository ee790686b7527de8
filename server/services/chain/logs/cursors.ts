import type { Log } from '../../../../specs/index.ts'
import { ServiceError } from '../../../core/errors.ts'
import { ByteCache } from '../byte-cache.ts'
import type { HeadTracker } from '../head-tracker.ts'
import type { LogSelection } from './filter.ts'

/** The place of a log in the chain: the paging keys of the last entry of a page. */
export interface LogPlace {
  readonly block: number
  readonly index: number
}

interface Delivered {
  readonly blockHash: string
  readonly generation: number
}

/** Bound on the memory of all paging keys that are remembered. One takes little, but there may be many. */
const BUDGET_BYTES = 16 * 1024 * 1024

/**
 * Remembers by hash the blocks in which pages ended. Paging keys name a block by its number only. When that block was
 * reorganised meanwhile, the next page would come from another chain than the page before it.
 */
export class Cursors {
  readonly #head: HeadTracker
  readonly #delivered = new ByteCache<Delivered>(BUDGET_BYTES)

  constructor(head: HeadTracker) {
    this.#head = head
  }

  /**
   * Remembers where a page ended.
   *
   * @param generation number of the chain's reorganisations when the page was read
   */
  deliver(selection: LogSelection, page: readonly Log[], generation: number): void {
    const last = page.at(-1)
    if (last === undefined) return
    const key = keyOf(selection, placeOf(last))
    this.#delivered.set(key, { blockHash: last.blockHash, generation }, 300 + key.length)
  }

  /**
   * Call it after the head was read: reading the head finds reorganisations.
   *
   * @throws ServiceError RPC_RESOURCE_NOT_FOUND the page before ended in a block that was reorganised
   */
  async check(selection: LogSelection, cursor: LogPlace): Promise<void> {
    const key = keyOf(selection, cursor)
    const known = this.#delivered.get(key)
    if (known === undefined || known.generation === this.#head.generation) return
    const { generation } = this.#head
    const block = await this.#head.block(cursor.block)
    if (block?.hash !== known.blockHash) {
      throw new ServiceError(
        'RPC_RESOURCE_NOT_FOUND',
        'the block of the paging keys was reorganised: walk again from a block before it',
        { details: { reorganised: true, blockNumber: `0x${cursor.block.toString(16)}`, blockHash: known.blockHash } },
      )
    }
    this.#delivered.set(key, { ...known, generation }, 300 + key.length)
  }
}

export function placeOf(log: Log): LogPlace {
  return { block: Number(log.blockNumber), index: Number(log.logIndex) }
}

const keyOf = (selection: LogSelection, { block, index }: LogPlace) => `${selection.key} ${block}:${index}`
