import { expect } from 'chai'
import { Wallet } from 'ethers'
import { signerFromKey } from '../../services/signers/signers.ts'
import { transactionCall } from '../../ethereum/transaction.ts'

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
