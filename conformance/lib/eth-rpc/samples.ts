import { randomBytes } from 'node:crypto'

/** The first example of EIP-55, in its checksummed case: an address that needs nothing to be there. */
export const sampleAddress = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

/** 32 bytes that no transaction, block or topic has. */
export function unknownHash(): string {
  return `0x${randomBytes(32).toString('hex')}`
}

/** 20 bytes where nothing is. */
export function unknownAddress(): string {
  return `0x${randomBytes(20).toString('hex')}`
}

/** No Ethereum node and no document knows this method. */
export const inventedMethod = 'touchstone_noSuchMethod'
