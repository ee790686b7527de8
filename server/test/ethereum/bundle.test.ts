import { expect } from 'chai'
import { hexlify, keccak256, randomBytes, Wallet, type TransactionReceipt } from 'ethers'
import { loadArtifact } from '../../../contracts/artifacts.ts'
import { startChain, type RunningChain, testSigner } from '../../../contracts/chain.ts'
import {
  bundleResults as referenceResults,
  deployBundler,
  encodeBundle as referenceEncoding,
} from '../../../contracts/deploy/bundler.ts'
import { createSender } from '../../../contracts/deploy/sender.ts'
import {
  bundled,
  BUNDLER_CODE_HASH,
  bundleGasLimit,
  bundleResults,
  decodeBundle,
  divideGas,
  encodeBundle,
  MAX_BUNDLED_BYTES,
  type BundledCall,
} from '../../ethereum/bundle.ts'
import { intrinsicGas, transactionGas } from '../../ethereum/transaction.ts'

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)

describe('bundles', () => {
  let chain: RunningChain
  let bundler: string
  let hostile: string

  before(async () => {
    chain = await startChain()
    const sender = await createSender(testSigner(chain))
    bundler = await deployBundler(sender)
    const created = sender.deploy((await loadArtifact('Hostile')).bytecode)
    await created.deployed
    hostile = created.address
  })
  after(() => chain.close())

  async function mine(calls: readonly BundledCall[], gasLimit: bigint): Promise<TransactionReceipt> {
    const signer = testSigner(chain)
    const { hash } = await signer.sendTransaction({ to: bundler, data: encodeBundle(calls), gasLimit })
    return (await signer.provider!.getTransactionReceipt(hash))!
  }

  /** A call of no function: the contract reverts at once. */
  const idle = (length: number, gasLimit: bigint) => ({ to: hostile, gasLimit, data: hexlify(randomBytes(length)) })
  /** A call that uses up what it gets. */
  const burning = (gasLimit: bigint, bytes = 4) => ({
    to: hostile,
    gasLimit,
    data: `0xbde9e40e${'ff'.repeat(bytes - 4)}`,
  })

  it('go to a contract whose code is known', async () => {
    expect(keccak256(await testSigner(chain).provider!.getCode(bundler))).to.equal(BUNDLER_CODE_HASH)
  })

  for (const lengths of [[4], [4, 0, 100], [MAX_BUNDLED_BYTES, 4, 33]]) {
    it(`are written as the contract reads them, and read again: ${lengths.join()} bytes`, () => {
      const calls = lengths.map((length, at) => ({
        to: Wallet.createRandom().address.toLowerCase(),
        gasLimit: 100_000n + BigInt(at),
        data: hexlify(randomBytes(length)),
      }))
      expect(encodeBundle(calls)).to.equal(referenceEncoding(calls))
      expect(decodeBundle(encodeBundle(calls))).to.deep.equal(calls)
    })
  }

  it('are not what other call data is', () => {
    expect(() => decodeBundle('0x12345678')).to.throw(TypeError, 'not the call data of a bundle')
  })

  for (const [what, limits, bytes] of [
    ['two small calls', [60_000n, 60_000n], 4],
    ['a small and a large one', [60_000n, 10_000_000n], 4],
    ['two large ones', [8_000_000n, 8_000_000n], 4],
    ['two with much data', [400_000n, 400_000n], MAX_BUNDLED_BYTES],
    ['sixty', Array.from({ length: 60 }, () => 60_000n), 4],
    ['sixty, one of them large', [...Array.from({ length: 59 }, () => 60_000n), 10_000_000n], 4],
  ] as const) {
    it(`have gas for every call up to its limit, also when all use it up: ${what}`, async () => {
      const own = limits.map((gasLimit) => burning(gasLimit, bytes))
      const calls = own.map(bundled)
      const receipt = await mine(calls, bundleGasLimit(limits))
      expect(receipt.status).to.equal(1)
      const results = bundleResults(receipt.logs, bundler)
      expect(results.map(({ succeeded }) => succeeded)).to.deep.equal(limits.map(() => false))
      for (const [index, { gasUsed }] of results.entries()) {
        const most = calls[index]!.gasLimit
        expect(gasUsed >= most && gasUsed < most + 2_700n, `${gasUsed} of ${most}`).to.equal(true)
      }
      const parts = divideGas(receipt.gasUsed, calls, results)
      expect(sum(parts)).to.equal(receipt.gasUsed)
      for (const [index, part] of parts.entries()) expect(part <= limits[index]!, `${part}`).to.equal(true)
    })
  }

  it('say of each call what the contract measured', async () => {
    const calls = [idle(4, 50_000n), burning(70_000n)].map(bundled)
    const receipt = await mine(calls, 400_000n)
    const expected = referenceResults(receipt, bundler)
    expect(bundleResults(receipt.logs, bundler.toLowerCase())).to.deep.equal(
      expected?.map(({ success, gasUsed }) => ({ succeeded: success, gasUsed })),
    )
    expect(bundleResults([], bundler)).to.deep.equal([])
  })

  it('cost each call less than a transaction of its own', async () => {
    const own = [idle(4, 50_000n), burning(60_000n), idle(3_000, 200_000n), burning(1_000_000n)]
    const calls = own.map(bundled)
    const receipt = await mine(calls, bundleGasLimit(own.map(({ gasLimit }) => gasLimit)))
    const parts = divideGas(receipt.gasUsed, calls, bundleResults(receipt.logs, bundler))
    expect(sum(parts)).to.equal(receipt.gasUsed)
    const signer = testSigner(chain)
    for (const [index, { to, data, gasLimit }] of own.entries()) {
      const { hash } = await signer.sendTransaction({ to, data, gasLimit })
      const alone = (await signer.provider!.getTransactionReceipt(hash))!.gasUsed
      expect(parts[index]! < alone, `${parts[index]} ${alone}`).to.equal(true)
    }
  })

  it('are divided to the last unit, whatever there is to divide', () => {
    const calls = [idle(4, 100_000n), idle(4_000, 300_000n), burning(50_000n)]
    for (const gasUsed of [0n, 1n, 2n, 21_000n, 100_001n, 123_457n, 10_000_000n]) {
      for (const used of [[], [0n, 0n, 0n], [99n, 5_000n, 7n], [3_000_000n, 1n, 2n]]) {
        const results = used.map((one) => ({ succeeded: true, gasUsed: one }))
        const parts = divideGas(gasUsed, calls, results)
        expect(sum(parts)).to.equal(gasUsed)
        const weights = calls.map(({ data }, at) => transactionGas(data, results[at]?.gasUsed ?? 0n))
        for (const [at, part] of parts.entries()) {
          expect(part >= 0n).to.equal(true)
          if (gasUsed < sum(weights) - 8_000n) expect(part <= weights[at]!).to.equal(true)
        }
      }
    }
  })

  it('give a call the gas that its own transaction would have left for it', () => {
    const call = { to: hostile, gasLimit: 100_000n, data: '0x00ff' }
    expect(intrinsicGas(call.data)).to.equal(21_020n)
    expect(bundled(call).gasLimit).to.equal(78_980n)
  })
})
