/** The place of one call in a channel. The call gives it back when it is answered. */
export interface Place {
  readonly channel: bigint
  readonly nonce: bigint
  /**
   * Gives the place back, and lets the next call into the channel.
   *
   * @param next the nonce of the next call, when this call was accepted. Absent: the next call asks the chain
   */
  release(next?: bigint): void
}

export interface Channels {
  /** @returns a place in a channel in which no call is under way */
  free(): Promise<Place>
  /** @returns the next place of a channel, when the call before it is answered */
  inTurn(channel: bigint | string): Promise<Place>
}

interface Idle {
  readonly channel: bigint
  readonly next: bigint
  readonly sinceMs: number
}

/** A channel is not used again when its call is not mined within this time. */
const PENDING_MS = 10 * 60_000
const INDEX_BITS = 32n

/**
 * Chooses channels (LSP25). Calls in different channels do not wait for each other, but the first call of a channel
 * costs about 15,000 gas more than the calls after it. So a channel is used again when its last call is mined.
 *
 * @param readNonce the key manager's next nonce in a channel
 * @param randomBits 96 bits, so that other clients of the same controller use other channels
 */
export function createChannels(
  readNonce: (channel: bigint) => Promise<bigint>,
  randomBits: bigint = random96(),
): Channels {
  const base = randomBits << INDEX_BITS
  let opened = 0n
  const open = () => base + opened++
  const idle: Idle[] = []
  const named = new Map<string, bigint>()
  const turns = new Map<bigint, { last: Promise<void>; next?: bigint | undefined }>()

  const placeOf = (channel: bigint, nonce: bigint): Place => ({
    channel,
    nonce,
    release: (next) => {
      if (next !== undefined) idle.push({ channel, next, sinceMs: performance.now() })
    },
  })

  return {
    async free() {
      const candidate = idle.shift()
      if (candidate) {
        const nonce = await readNonce(candidate.channel)
        if (nonce >= candidate.next) return placeOf(candidate.channel, nonce)
        // To the end: a call that is never mined does not keep the channels behind it from being used.
        if (performance.now() - candidate.sinceMs < PENDING_MS) idle.push(candidate)
      }
      const channel = open()
      return placeOf(channel, await readNonce(channel))
    },
    async inTurn(name) {
      const channel = typeof name === 'bigint' ? name : (named.get(name) ?? open())
      if (typeof name === 'string') named.set(name, channel)
      const turn = turns.get(channel) ?? { last: Promise.resolve() }
      turns.set(channel, turn)
      const before = turn.last
      let end = () => {}
      turn.last = new Promise((resolve) => {
        end = resolve
      })
      await before
      const release = (next?: bigint) => {
        turn.next = next
        end()
      }
      try {
        const onChain = await readNonce(channel)
        const nonce = turn.next !== undefined && turn.next > onChain ? turn.next : onChain
        return { channel, nonce, release }
      } catch (error) {
        release(turn.next)
        throw error
      }
    },
  }
}

function random96(): bigint {
  const bytes = crypto.getRandomValues(new Uint8Array(12))
  return bytes.reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n)
}
