import { expect } from 'chai'
import { hashMessage, recoverAddress, solidityPackedKeccak256, Wallet } from 'ethers'
import { relayCallDigest } from '../../../../contracts/lsp25.ts'
import { quotaReadings, relayDigest, signDigest, signQuota } from '../../../lib/relay/message.ts'

describe('what controllers sign', () => {
  const wallet = new Wallet(`0x${'22'.repeat(32)}`)

  it('is the LSP25 message, as the contracts’ own helper makes it', () => {
    const message = {
      keyManager: `0x${'ab'.repeat(20)}`,
      chainId: 42n,
      nonce: (5n << 128n) | 3n,
      validityTimestamps: (1n << 128n) | 2n,
      payload: '0xdeadbeef01',
    }
    const digest = relayDigest(message)
    expect(digest).to.equal(relayCallDigest(message))
    expect(recoverAddress(digest, signDigest(wallet, digest))).to.equal(wallet.address)
  })

  it('is the packed quota message, hashed again, and four different things by the four readings', () => {
    const message = { address: `0x${'33'.repeat(20)}`, timestamp: 1_800_000_000 }
    const packed = solidityPackedKeccak256(['address', 'uint256'], [message.address, message.timestamp])
    const digest = hashMessage(Uint8Array.from(Buffer.from(packed.slice(2), 'hex')))
    expect(recoverAddress(digest, signQuota(message, wallet))).to.equal(wallet.address)
    expect(new Set(quotaReadings.map((reading) => signQuota(message, wallet, reading)))).to.have.property('size', 4)
  })
})
