import type { RelayCall } from '../../core/define.ts'
import type { ServiceError } from '../../core/errors.ts'
import type { SignerAccount } from '../signers/signer-account.ts'

/** A simulated call on its way into the ledger. */
export interface Acceptance {
  readonly call: RelayCall
  readonly identity: string
  readonly gasLimit: bigint
  /** Who sends it. */
  readonly signer: SignerAccount
  /** What the key manager of an unregistered profile runs: the hash of known code, or `UNKNOWN_CODE`; null: not asked for. */
  readonly code: string | null
}

/** What became of it. */
export type Committed =
  /** Stored with the account's next nonce: from here on it is ours to get mined. */
  | {
      readonly kind: 'stored'
      /** Of the transaction, which calls of a bundle share. */
      readonly hash: string
      readonly raw: string
      readonly accountNonce: number
      /** `relays.hash`. */
      readonly relay: string
    }
  /** The same call was there already. */
  | { readonly kind: 'known'; readonly hash: string }
  | { readonly kind: 'refused'; readonly error: ServiceError }
  /** The one before it in its channel was refused. */
  | { readonly kind: 'orphaned' }
