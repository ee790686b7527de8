import { expect } from 'chai'
import {
  computeAddress,
  getAddress,
  hashMessage,
  hexlify,
  Interface,
  randomBytes,
  SigningKey,
  solidityPackedKeccak256,
} from 'ethers'
import { relayCallDigest } from '../../contracts/lsp25.ts'
import {
  encodeExecute,
  encodeExecutePayload,
  encodeExecuteRelayCall,
  encodeGetNonce,
  isAddress,
  ownerCall,
  addressOf,
  personalDigest,
  quotaMessage,
  relayDigest,
} from '../encoding.ts'

const contract = new Interface([
  'function execute(uint256,address,uint256,bytes)',
  'function execute(bytes)',
  'function executeRelayCall(bytes,uint256,uint256,bytes)',
  'function getNonce(address,uint128)',
  'function owner()',
])
const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const payloads = [
  '0x',
  '0x7f23690c',
  hexlify(randomBytes(31)),
  hexlify(randomBytes(32)),
  hexlify(randomBytes(1000)),
] as const

const swapCase = (letter: string) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase())

describe('what the client encodes and hashes', () => {
  it('is what ethers encodes', () => {
    for (const data of payloads) {
      const values = [1n, address, 2n ** 255n, data]
      expect(encodeExecute(1n, address, 2n ** 255n, data)).to.equal(
        contract.encodeFunctionData('execute(uint256,address,uint256,bytes)', values),
      )
      expect(encodeExecutePayload(data)).to.equal(contract.encodeFunctionData('execute(bytes)', [data]))
      const signature = hexlify(randomBytes(65))
      const call = { keyManager: address, chainId: 42n, nonce: 2n ** 200n, validityTimestamps: 5n, payload: data }
      expect(encodeExecuteRelayCall(call, signature)).to.equal(
        contract.encodeFunctionData('executeRelayCall', [signature, call.nonce, call.validityTimestamps, data]),
      )
    }
    expect(encodeGetNonce(address, 2n ** 127n)).to.equal(contract.encodeFunctionData('getNonce', [address, 2n ** 127n]))
    expect(ownerCall).to.equal(contract.encodeFunctionData('owner', []))
    expect(() => encodeExecute(0n, address, 2n ** 256n, '0x')).to.throw(RangeError)
    expect(() => encodeExecute(0n, address, -1n, '0x')).to.throw(RangeError)
  })

  it('is the digest of LSP25', () => {
    for (const payload of payloads) {
      const message = {
        keyManager: address,
        chainId: 42n,
        nonce: (7n << 128n) | 3n,
        validityTimestamps: 1n << 130n,
        payload,
      }
      expect(relayDigest(message)).to.equal(relayCallDigest(message))
    }
  })

  it('is the message of the quota, as a personal one', () => {
    const hash = solidityPackedKeccak256(['address', 'uint256'], [address, 1767225600])
    expect(quotaMessage(address, 1767225600)).to.equal(hash)
    expect(personalDigest(quotaMessage(address, 1767225600))).to.equal(hashMessage(Buffer.from(hash.slice(2), 'hex')))
  })

  it('goes to an address in letters of one case, or with its checksum', () => {
    for (let round = 0; round < 50; round++) {
      const checksummed = getAddress(hexlify(randomBytes(20)))
      const lower = checksummed.toLowerCase()
      for (const right of [checksummed, lower, `0x${lower.slice(2).toUpperCase()}`])
        expect(isAddress(right), right).to.equal(true)
      const typo = checksummed.replace(/[a-f]/i, (letter) => swapCase(letter))
      const isOfOneCase = [typo.toLowerCase(), `0x${typo.slice(2).toUpperCase()}`].includes(typo)
      expect(isAddress(typo), typo).to.equal(isOfOneCase || typo === checksummed)
    }
    for (const none of ['', '0x', `${address}00`, address.slice(2), 5, undefined])
      expect(isAddress(none)).to.equal(false)
  })

  it('is the address of a key', () => {
    const { publicKey } = new SigningKey(hexlify(randomBytes(32)))
    expect(addressOf(publicKey)).to.equal(computeAddress(publicKey).toLowerCase())
  })
})
