import type { BlockParam, Log, LogFilter, Receipt, Transaction } from '../../../specs/index.ts'

/**
 * The chain as `POST /api/eth-rpc` tells it: every answer is what the node would say now, in the form of the standard,
 * read from the node only when it has to be. Answers are frozen, and the same object is the same answer.
 *
 * Each method throws ServiceError UPSTREAM_UNAVAILABLE when no node answers, RPC_SERVER_ERROR when the node refuses.
 */
export interface Chain {
  /** The chain's id, as a quantity. */
  id(): Promise<string>
  /** Number of the head, as a quantity. */
  blockNumber(): Promise<string>
  /** Price per gas in wei, as a quantity. */
  gasPrice(): Promise<string>
  /** Priority fee per gas in wei, as a quantity. */
  maxPriorityFeePerGas(): Promise<string>
  /**
   * Balance in wei at the end of a block, as a quantity.
   *
   * @throws ServiceError RPC_RESOURCE_NOT_FOUND the chain has no such block yet
   */
  balance(address: string, block: BlockParam): Promise<string>
  /** Null when the node knows no such transaction. */
  transaction(hash: string): Promise<Transaction | null>
  /** Null while the transaction is not mined. */
  receipt(hash: string): Promise<Receipt | null>
  /**
   * At most 1000 logs in ascending order of block and log index; the next page is asked for with the last one's keys.
   *
   * @throws ServiceError RPC_INVALID_PARAMS a range that ends before it begins; RPC_RESOURCE_NOT_FOUND the block of the
   *   hash or of the paging keys is not part of the chain; RPC_RESPONSE_TOO_LARGE one block is more than the node gives;
   *   RPC_LIMIT_EXCEEDED it takes too long, and asking again goes on from where it was
   */
  logs(filter: LogFilter): Promise<readonly Log[]>
}

declare module '../../core/define.ts' {
  interface Services {
    chain: Chain
  }
}
