/** Calls that are made at the same time by so many workers. */
export interface RelayLoad {
  readonly workers: number
  /** In all. */
  readonly tasks: number
}

/** A key manager's nonce (LSP25), by its parts. */
export interface ChannelNonce {
  readonly channel: bigint
  readonly id: bigint
}

/** The nonces of loads that come one after the other on a chain, each when the one before is mined. */
export interface LoadNonces {
  /** @returns one for each of the load's tasks, by worker */
  take(load: RelayLoad): ChannelNonce[][]
}

/**
 * In a load each call has a channel of its own: none depends on another one's being mined. The next load takes the same
 * channels again, so that the chain's state does not grow with every call.
 */
export function createLoadNonces(): LoadNonces {
  const nextIds = new Map<bigint, bigint>()
  return {
    take: ({ workers, tasks }) => {
      const each = Math.ceil(tasks / workers)
      return Array.from({ length: workers }, (_, worker) =>
        Array.from({ length: each }, (_, index) => {
          const channel = BigInt(1 + worker * each + index)
          const id = nextIds.get(channel) ?? 0n
          nextIds.set(channel, id + 1n)
          return { channel, id }
        }),
      )
    },
  }
}
