import { expect } from 'chai'
import { getBytes, Signature, solidityPackedKeccak256, verifyMessage, Wallet } from 'ethers'
import { relayCallDigest, relayNonce, signQuota, signRelayCall, validityWindow } from '../lsp25.ts'

describe('lsp25', () => {
  const privateKey = '0x' + '01'.repeat(32)
  const message = {
    keyManager: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    chainId: 4201,
    nonce: relayNonce(5n, 1n),
    payload: '0x12345678',
  }

  it('signs in 65 bytes with low s and v 27 or 28', () => {
    const signature = signRelayCall(message, privateKey)
    expect(getBytes(signature)).to.have.length(65)
    expect(Signature.from(signature).isValid()).to.equal(true)
    expect([27, 28]).to.include(getBytes(signature)[64])
  })

  it('binds every member of the message', () => {
    const digests = [
      message,
      { ...message, keyManager: '0x0000000000000000000000000000000000000001' },
      { ...message, chainId: 4202 },
      { ...message, nonce: relayNonce(5n, 2n) },
      { ...message, validityTimestamps: 1n },
      { ...message, valueWei: 1n },
      { ...message, payload: '0x12345679' },
    ].map(relayCallDigest)
    expect(new Set(digests).size).to.equal(digests.length)
  })

  it('puts channel and window into the upper 128 bits', () => {
    expect(relayNonce(1n, 0n)).to.equal(2n ** 128n)
    expect(relayNonce(3n, 7n)).to.equal(3n * 2n ** 128n + 7n)
    expect(validityWindow(1, 2)).to.equal(2n ** 128n + 2n)
  })

  it('signs a quota request as a personal message over the packed hash', () => {
    const request = { address: message.keyManager, timestampSeconds: 1_700_000_000 }
    const hash = solidityPackedKeccak256(['address', 'uint256'], [request.address, request.timestampSeconds])
    const signer = verifyMessage(getBytes(hash), signQuota(request, privateKey))
    expect(signer).to.equal(new Wallet(privateKey).address)
  })
})
