import { keccak256 } from 'ethers'
import { keyManagerCalls } from '../../ethereum/contracts.ts'
import type { SequenceRunner, StorageOverride } from './sequences.ts'

/**
 * Finds where key managers store their nonces, so that a call can be measured as if the calls before it were mined. The
 * gas limit of ten `setData` calls in one channel, and with it what is reserved, is then 1.3 times the gas that they use;
 * without this it is 4.4 times (85,000 and 312,000 for 62,000 used).
 */
export interface NonceSlots {
  /**
   * @returns the storage with which the channel's next nonce is this one; undefined when the slot is not known
   */
  override(keyManager: string, signer: string, nonce: bigint): Promise<StorageOverride | undefined>
}

/** In every published key manager the mapping lies among the first slots; the slot differs between versions. */
const CANDIDATE_SLOTS = 16
const ID_MASK = (1n << 128n) - 1n
/** An account without an owner: its nonces are read only under an override. */
const probeSigner = '0x000000000000000000000000000000000000dEaD'
const GAS_FOR_A_READ = 200_000n
/** The most key managers that are remembered, so that a flood of them does not fill the memory. */
const MAX_REMEMBERED = 10_000

export function createNonceSlots({ runner }: { runner: SequenceRunner }): NonceSlots {
  const places = new Map<string, Promise<number | undefined>>()

  /** Sets each candidate slot to another value, and asks the key manager for the nonce: its answer tells the slot. */
  async function find(keyManager: string): Promise<number | undefined> {
    const candidates = Array.from({ length: CANDIDATE_SLOTS }, (_, place) => [
      slotOf(place, probeSigner, 0n),
      word(BigInt(place) + 1n),
    ])
    const data = keyManagerCalls.getNonce(probeSigner, 0n)
    const [[outcome] = []] = await runner.run({
      sequences: [[{ to: keyManager, gasLimit: GAS_FOR_A_READ, data }]],
      storage: { [keyManager]: Object.fromEntries(candidates) as Record<string, string> },
    })
    if (!outcome?.success || outcome.returnData.length !== 66) return undefined
    const read = BigInt(outcome.returnData)
    return read >= 1n && read <= BigInt(CANDIDATE_SLOTS) ? Number(read) - 1 : undefined
  }

  return {
    override: async (keyManager, signer, nonce) => {
      let place = places.get(keyManager)
      if (!place) {
        place = find(keyManager)
        if (places.size >= MAX_REMEMBERED) places.clear()
        places.set(keyManager, place)
        place.catch(() => places.delete(keyManager))
      }
      const found = await place
      if (found === undefined) return undefined
      return { [keyManager]: { [slotOf(found, signer, nonce >> 128n)]: word(nonce & ID_MASK) } }
    },
  }
}

/** Slot of `mapping(address => mapping(uint256 => uint256))` at a place in the layout. */
function slotOf(place: number, signer: string, channel: bigint): string {
  const outer = keccak256(`0x${signer.slice(2).toLowerCase().padStart(64, '0')}${word(BigInt(place)).slice(2)}`)
  return keccak256(`${word(channel)}${outer.slice(2)}`)
}

const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
