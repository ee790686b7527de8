import { decodeBundle, type BundledCall } from '../../ethereum/bundle.ts'
import { transactionCall } from '../../ethereum/sign-transaction.ts'

/**
 * Reads relay calls out of signed transactions, which are where the ledger keeps them. A bundle is decoded once for all its
 * calls.
 *
 * @returns a function of the signed bytes and of the call's place in the bundle; null: it is the only call
 */
export function createCallReader(): (raw: string, place: number | null) => Pick<BundledCall, 'to' | 'data'> {
  const bundles = new Map<string, readonly BundledCall[]>()
  return (raw, place) => {
    if (place === null) return transactionCall(raw)
    let calls = bundles.get(raw)
    if (!calls) bundles.set(raw, (calls = decodeBundle(transactionCall(raw).data)))
    const call = calls[place]
    if (!call) throw new RangeError(`a bundle of ${calls.length} calls has no place ${place}`)
    return call
  }
}
