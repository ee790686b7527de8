import { encodeRlp, getBytes, keccak256, toBeArray } from 'ethers'
import { signDigest } from '../signatures/signature.ts'

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
  const call = [quantity(gasLimit), to, '0x', data]
  const sign = (unsigned: string) => signDigest(getBytes(keccak256(unsigned)), privateKey)
  let raw: string
  if (fees.type === 2) {
    const fields = [
      quantity(chainId),
      quantity(BigInt(nonce)),
      quantity(fees.maxPriorityFeePerGas),
      quantity(fees.maxFeePerGas),
      ...call,
      [],
    ]
    const { r, s, yParity } = sign(`0x02${encodeRlp(fields).slice(2)}`)
    raw = `0x02${encodeRlp([...fields, quantity(BigInt(yParity)), trimmed(r), trimmed(s)]).slice(2)}`
  } else {
    const fields = [quantity(BigInt(nonce)), quantity(fees.gasPrice), ...call]
    const { r, s, yParity } = sign(encodeRlp([...fields, quantity(chainId), '0x', '0x']))
    raw = encodeRlp([...fields, quantity(chainId * 2n + 35n + BigInt(yParity)), trimmed(r), trimmed(s)])
  }
  return { hash: keccak256(raw), raw }
}

/** The most that a unit of gas can cost under these fees, in wei. */
export function maxFeePerGas(fees: Fees): bigint {
  return fees.type === 2 ? fees.maxFeePerGas : fees.gasPrice
}

const quantity = (value: bigint) => toBeArray(value)
const trimmed = (hex: string) => toBeArray(BigInt(hex))
