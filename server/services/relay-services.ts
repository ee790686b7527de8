import type { TransactionStatus } from '../../specs/index.ts'
import type { Quota, RelayCall } from '../core/define.ts'

// What relay plugins and routes ask of the relayer and its ledger. The declarations stand apart from the implementations,
// whose types need the packages of a database and a log: authors of plugins compile `touchstone/plugin` without these.

/** Executes relay calls: each once, each accounted for, none lost. */
export interface Relayer {
  /** The chain that calls are signed for. It never changes: a node of another chain is not used. */
  readonly chainId: bigint
  /**
   * Simulates, stores and sends a verified call, or answers with what became of the same call before.
   *
   * @returns the hash of the transaction that carries it; from then on it survives the end of this process
   * @throws ServiceError `broadcast` false: nothing was stored now. The same call may have been accepted before, which
   *   `relayByKeyManager` finds out
   * @throws StaleProfileError the profile has another key manager: verify the call anew
   */
  submit(call: RelayCall): Promise<{ transactionHash: string }>
  /** Takes no new calls, and resolves when the calls under way are answered. */
  close(): Promise<void>
}

/** Tells what became of relay calls. */
export interface Relays {
  /**
   * @param hash of any attempt, lower case
   * @param wanted which call of a bundle is meant; one that the transaction does not carry is undefined
   */
  status(hash: string, wanted?: CallFilter): Promise<TransactionStatus | undefined>
  /** The calls of a profile that were accepted with this nonce, for whichever key manager, and not given up. */
  accepted(place: ProfilePlace): Promise<readonly KnownCall[]>
  /** How many calls wait to be mined. */
  countPending(): Promise<number>
  /** How many calls came since then, by their status now. */
  countSince(sinceMs: number): Promise<Readonly<Record<RelayStatus, number>>>
}

/** Names a call among those of a bundle. A member that is absent fits every call. */
export interface CallFilter {
  /** Checksummed. */
  readonly profile?: string
  /** The controller that signed it, checksummed. */
  readonly signer?: string
  readonly nonce?: bigint
}

/** `abandoned`: the call will never be mined. It is charged nothing, unless it expired and its nonce had to be used up. */
export type RelayStatus = 'pending' | 'succeeded' | 'reverted' | 'abandoned'

/** Where calls of a profile that exclude each other lie, for whichever key manager they are signed. */
export interface ProfilePlace {
  /** Checksummed. */
  readonly profile: string
  readonly nonce: bigint
}

/** A call that was accepted before. */
export interface KnownCall {
  readonly keyManager: string
  /** See `identityOf`. */
  readonly identity: string
  /** The hash that was answered. */
  readonly transactionHash: string
}

/** What profiles may still spend, for `POST /quota`. */
export interface Quotas {
  /** @throws ServiceError PROFILE_NOT_REGISTERED; UPSTREAM_UNAVAILABLE a quota model does not answer */
  remaining(profile: string): Promise<Quota>
}

declare module '../core/define.ts' {
  interface Services {
    relayer: Relayer
    relays: Relays
    quotas: Quotas
  }
}
