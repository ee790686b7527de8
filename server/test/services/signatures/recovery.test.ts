import { expect } from 'chai'
import { Wallet } from 'ethers'
import { randomBytes } from 'node:crypto'
import { createRecovery, type Recovery } from '../../../services/signatures/recovery.ts'
import { MalformedSignatureError, parseSignature, type Signature } from '../../../ethereum/signature.ts'

describe('createRecovery', () => {
  let recovery: Recovery

  beforeEach(() => {
    recovery = createRecovery()
  })
  afterEach(() => recovery.close())

  const caught = (promise: Promise<unknown>) => promise.catch((thrown: unknown) => thrown)

  it('tells each of many callers who signed, and fails what nobody can have signed alone', async () => {
    const wallets = Array.from({ length: 20 }, () => Wallet.createRandom())
    const answers = wallets.map((wallet) => {
      const digest = randomBytes(32)
      return recovery.signer(digest, parseSignature(wallet.signingKey.sign(digest).serialized))
    })
    // r is the x of no point of the curve.
    const bytes = Uint8Array.from({ length: 64 }, (_, index) => (index === 31 ? 5 : index === 63 ? 1 : 0))
    const impossible: Signature = { bytes, recoveryId: 0 }
    const fault = caught(recovery.signer(randomBytes(32), impossible))
    expect(await Promise.all(answers)).to.deep.equal(wallets.map(({ address }) => address))
    expect(await fault).to.be.instanceOf(MalformedSignatureError)
  })

  it('goes on with another thread when one has died, or was closed', async () => {
    const wallet = Wallet.createRandom()
    const digest = randomBytes(32)
    const ask = () => recovery.signer(digest, parseSignature(wallet.signingKey.sign(digest).serialized))
    expect(await ask()).to.equal(wallet.address)
    // Nothing that a request could hold: the thread does not survive it.
    expect(await caught(recovery.signer(digest, undefined as never))).to.be.instanceOf(Error)
    expect(await ask()).to.equal(wallet.address)
    await recovery.close()
    expect(await ask()).to.equal(wallet.address)
  })
})
