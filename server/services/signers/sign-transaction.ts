import { hexlify } from 'ethers'
import { hexBytes } from '../signatures/digest.ts'
import { keccak } from '../signatures/keccak.ts'
import { signDigest, type Signature } from '../signatures/signature.ts'
import { encodeList, integerBytes, type RlpItem } from './rlp.ts'

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
  const sign = (unsigned: Uint8Array) => signDigest(keccak(unsigned), privateKey)
  const r = (signature: Signature) => integerBytes(BigInt(hexlify(signature.bytes.subarray(0, 32))))
  const s = (signature: Signature) => integerBytes(BigInt(hexlify(signature.bytes.subarray(32))))
  let raw: Buffer
  if (fees.type === 2) {
    const fields: RlpItem[] = [
      integerBytes(chainId),
      integerBytes(nonce),
      integerBytes(fees.maxPriorityFeePerGas),
      integerBytes(fees.maxFeePerGas),
      ...call,
      'empty list',
    ]
    const signature = sign(Buffer.concat([TYPE_2, encodeList(fields)]))
    const signed = [...fields, integerBytes(signature.recoveryId), r(signature), s(signature)]
    raw = Buffer.concat([TYPE_2, encodeList(signed)])
  } else {
    const fields = [integerBytes(nonce), integerBytes(fees.gasPrice), ...call]
    const signature = sign(encodeList([...fields, integerBytes(chainId), integerBytes(0), integerBytes(0)]))
    const v = integerBytes(chainId * 2n + 35n + BigInt(signature.recoveryId))
    raw = encodeList([...fields, v, r(signature), s(signature)])
  }
  return { hash: hexlify(keccak(raw)), raw: `0x${raw.toString('hex')}` }
}

/** The most that a unit of gas can cost under these fees, in wei. */
export function maxFeePerGas(fees: Fees): bigint {
  return fees.type === 2 ? fees.maxFeePerGas : fees.gasPrice
}

const TYPE_2 = Buffer.from([2])
