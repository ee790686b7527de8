import { expect } from 'chai'
import { hexlify, SigningKey, Signature, Wallet } from 'ethers'
import { relayCallDigest, relayNonce, signQuota } from '../../../contracts/lsp25.ts'
import {
  lsp25Form,
  personalDigest,
  quotaMessage,
  relayDigest,
  MalformedSignatureError,
  parseSignature,
  recoverSigner,
  serializeSignature,
} from '../../ethereum/signature.ts'
import { misreadings } from '../../ethereum/misreadings.ts'
import { signerFromKey } from '../../services/signers/signers.ts'
import { transactionCall } from '../../ethereum/transaction.ts'

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

describe('signatures', () => {
  const wallets = Array.from({ length: 16 }, () => new Wallet(Wallet.createRandom().privateKey))
  const message = {
    keyManager: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    chainId: 42n,
    nonce: relayNonce(7n, 3n),
    validityTimestamps: (5n << 128n) | 9n,
    payload: '0xdeadbeef00',
  }

  it('hashes a relay call as LSP25 says', () => {
    expect(hexlify(relayDigest(message, lsp25Form))).to.equal(relayCallDigest(message))
  })

  it('recovers the signer from every spelling, and writes all of them alike', () => {
    const digest = relayDigest(message, lsp25Form)
    for (const wallet of wallets) {
      const { serialized, r, s, v, compactSerialized } = new SigningKey(wallet.privateKey).sign(digest)
      const highS = (CURVE_ORDER - BigInt(s)).toString(16).padStart(64, '0')
      const spellings = [
        serialized,
        serialized.toUpperCase().replace('0X', '0x'),
        compactSerialized,
        `${serialized.slice(0, -2)}${v === 27 ? '00' : '01'}`,
        `${r}${highS}${v === 27 ? '1c' : '1b'}`,
      ]
      for (const spelling of spellings) {
        const signature = parseSignature(spelling)
        expect(recoverSigner(digest, signature)).to.equal(wallet.address)
        expect(serializeSignature(signature)).to.equal(serialized)
      }
    }
  })

  it('reads the message of a quota request as ethers signs it', () => {
    const [wallet] = wallets
    const request = { address: message.keyManager, timestampSeconds: 1_800_000_000 }
    const signature = parseSignature(signQuota(request, wallet?.privateKey ?? ''))
    const digest = personalDigest(quotaMessage(request.address, request.timestampSeconds))
    expect(recoverSigner(digest, signature)).to.equal(wallet?.address)
  })

  for (const [fault, hex] of [
    ['nothing', '0x'],
    ['too short', `0x${'11'.repeat(63)}`],
    ['too long', `0x${'11'.repeat(66)}`],
    ['another v', `0x${'11'.repeat(64)}1d`],
    ['an r that is no field element', `0x${'ff'.repeat(32)}${'11'.repeat(32)}1b`],
    ['all zero', `0x${'00'.repeat(65)}`],
  ] as const) {
    it(`refuses a signature that is ${fault}`, () => {
      const recover = () => recoverSigner(relayDigest(message, lsp25Form), parseSignature(hex))
      expect(recover).to.throw(MalformedSignatureError)
    })
  }

  it('reads the usual mistakes', () => {
    const [wallet] = wallets
    const key = new SigningKey(wallet?.privateKey ?? '')
    const signed = (digest: Uint8Array) => parseSignature(Signature.from(key.sign(digest)).serialized)
    const profile = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
    const mistakenDigests = {
      'personal message': personalDigest(relayDigest(message, lsp25Form)),
      'for chain 1 ': relayDigest({ ...message, chainId: 1n }, lsp25Form),
      'for version 6 of the key manager instead': relayDigest(message, { version: 6n, validity: true }),
      'without validityTimestamps': relayDigest(message, { version: 6n, validity: false }),
    }
    for (const [words, digest] of Object.entries(mistakenDigests)) {
      const found = misreadings({ ...message, profile }, lsp25Form, signed(digest)).filter(
        ({ signer }) => signer === wallet?.address,
      )
      expect(found.map(({ mistake }) => mistake)).to.have.lengthOf(1)
      expect(found[0]?.mistake).to.include(words)
    }
  })
})

describe('transactionCall', () => {
  const signer = signerFromKey(Wallet.createRandom().privateKey)
  const unsigned = { chainId: 42n, nonce: 7, to: signer.address, gasLimit: 100_000n }
  const fees = {
    'type 2': { type: 2, maxFeePerGas: 10n, maxPriorityFeePerGas: 1n },
    legacy: { type: 0, gasPrice: 10n },
  } as const

  for (const [name, offered] of Object.entries(fees)) {
    for (const [length, data] of Object.entries({
      none: '0x',
      one: '0x00',
      'a few': '0x12345678',
      many: `0x${'ab'.repeat(500)}`,
    })) {
      it(`finds it in a ${name} transaction: ${length} bytes`, () => {
        expect(transactionCall(signer.sign({ ...unsigned, data, fees: offered }).raw)).to.deep.equal({
          to: signer.address.toLowerCase(),
          data,
        })
      })
    }
  }

  it('refuses what is no transaction', () => {
    expect(() => transactionCall('0xc0')).to.throw(TypeError, 'not a signed transaction')
  })
})
