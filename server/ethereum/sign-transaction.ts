import { hexBytes, toHex } from './digest.ts'
import { keccak } from './keccak.ts'
import { signDigest, type Signature } from './signature.ts'
import { encodeItems, integerBytes, listPrefix, withoutLeadingZeros } from './rlp.ts'

/** What a transaction offers for gas, in wei: EIP-1559, or one price where the chain knows no base fee. */
export type Fees =
  | { readonly type: 2; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  | { readonly type: 0; readonly gasPrice: bigint }

export interface UnsignedTransaction {
  readonly chainId: bigint
  readonly nonce: number
  readonly to: string
  readonly gasLimit: bigint
  readonly data: string
  readonly fees: Fees
}

export interface SignedTransaction {
  readonly hash: string
  /** The bytes that are broadcast, hex. */
  readonly raw: string
}

/** Signs a transaction that sends no value: type 2 (EIP-1559), or legacy with replay protection (EIP-155). */
export function signTransaction(transaction: UnsignedTransaction, privateKey: Uint8Array): SignedTransaction {
  const { chainId, nonce, to, gasLimit, data, fees } = transaction
  const call = [integerBytes(gasLimit), hexBytes(to), integerBytes(0), hexBytes(data)]
  let type: Uint8Array
  let items: Buffer
  let signature: Buffer
  if (fees.type === 2) {
    type = TYPE_2
    items = encodeItems([
      integerBytes(chainId),
      integerBytes(nonce),
      integerBytes(fees.maxPriorityFeePerGas),
      integerBytes(fees.maxFeePerGas),
      ...call,
      'empty list',
    ])
    const signed = signDigest(keccak(type, listPrefix(items.length), items), privateKey)
    signature = encodeItems([integerBytes(signed.recoveryId), ...integersOf(signed)])
  } else {
    type = LEGACY
    items = encodeItems([integerBytes(nonce), integerBytes(fees.gasPrice), ...call])
    const chain = encodeItems([integerBytes(chainId), integerBytes(0), integerBytes(0)])
    const signed = signDigest(keccak(listPrefix(items.length + chain.length), items, chain), privateKey)
    signature = encodeItems([integerBytes(chainId * 2n + 35n + BigInt(signed.recoveryId)), ...integersOf(signed)])
  }
  const raw = Buffer.concat([type, listPrefix(items.length + signature.length), items, signature])
  return { hash: toHex(keccak(raw)), raw: toHex(raw) }
}

/** r and s. */
const integersOf = ({ bytes }: Signature) => [
  withoutLeadingZeros(bytes.subarray(0, 32)),
  withoutLeadingZeros(bytes.subarray(32)),
]

/** A nonce that no account has reached. */
const LARGEST_NONCE = 0xffff_ffff

/**
 * The most bytes that a signed transaction with call data of this length can have, whatever its nonce and its fees up to
 * the ceiling are.
 */
export function largestTransactionBytes(
  dataBytes: number,
  { chainId, gasCap, maxFeePerGasWei }: { chainId: bigint; gasCap: bigint; maxFeePerGasWei: bigint },
): number {
  const [fee, address, scalar] = [integerBytes(maxFeePerGasWei), Buffer.alloc(20, 1), Buffer.alloc(32, 1)]
  const numbers = [chainId, LARGEST_NONCE, gasCap, 0, 1].map(integerBytes)
  const fixed = encodeItems([...numbers, fee, fee, address, 'empty list', scalar, scalar]).length
  const items = fixed + listPrefix(dataBytes).length + dataBytes
  return TYPE_2.length + listPrefix(items).length + items
}

/** The most that a unit of gas can cost under these fees, in wei. */
export function maxFeePerGas(fees: Fees): bigint {
  return fees.type === 2 ? fees.maxFeePerGas : fees.gasPrice
}

const TYPE_2 = Buffer.from([2])
/** A legacy transaction has no type byte. */
const LEGACY = Buffer.alloc(0)
