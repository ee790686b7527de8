import { getBytes } from 'ethers'
import secp256k1 from 'secp256k1'
import { addressOf } from '../../ethereum/signature.ts'
import { signTransaction, type SignedTransaction, type UnsignedTransaction } from '../../ethereum/sign-transaction.ts'

/** An account that pays for relay calls. Its key is in a closure, so that nothing can read or print it. */
export interface SignerAccount {
  /** Checksummed. */
  readonly address: string
  sign(transaction: UnsignedTransaction): SignedTransaction
}

/** @param privateKey 0x and 32 bytes */
export function signerFromKey(privateKey: string): SignerAccount {
  const key = getBytes(privateKey)
  const address = addressOf(secp256k1.publicKeyCreate(key, false))
  return { address, sign: (transaction) => signTransaction(transaction, key) }
}
