import { hexlify } from 'ethers'
import { randomBytes } from '../world.ts'

/** The first example of EIP-55 in checksummed case. No contract and no coin need be at this address. */
export const sampleAddress = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

/** 32 random bytes, which no transaction, block or topic has. */
export function unknownHash(): string {
  return hexlify(randomBytes(32))
}

/** 20 random bytes, an address where nothing is. */
export function unknownAddress(): string {
  return hexlify(randomBytes(20))
}

/** No Ethereum node and no document knows this method. */
export const inventedMethod = 'touchstone_noSuchMethod'
