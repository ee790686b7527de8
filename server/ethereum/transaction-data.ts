import { decodeRlp } from 'ethers'

/**
 * Call data of a transaction that `signTransaction` has signed: the ledger keeps it nowhere else.
 *
 * @param raw signed bytes, hex
 * @returns hex
 * @throws TypeError when it is no transaction of type 2 and no legacy one
 */
export function transactionData(raw: string): string {
  const isType2 = raw.startsWith('0x02')
  const fields = decodeRlp(isType2 ? `0x${raw.slice(4)}` : raw)
  const data = Array.isArray(fields) ? fields[isType2 ? 7 : 5] : undefined
  if (typeof data !== 'string') throw new TypeError('not a signed transaction')
  return data
}
