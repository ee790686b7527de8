import { expect } from 'chai'
import { encryptKeystoreJson, hexlify, randomBytes, Transaction, Wallet } from 'ethers'
import { pino } from 'pino'
import { inspect } from 'node:util'
import { ConfigError, ServiceError } from '../../../core/errors.ts'
import { openKeystores, signerFromKey, createSigners } from '../../../services/signers/signers.ts'
import { largestTransactionBytes } from '../../../ethereum/transaction.ts'
import type { Upstream } from '../../../services/node/upstream.ts'

const ETHER = 10n ** 18n

describe('signers', () => {
  it('signs as ethers does: EIP-1559 and legacy, whatever the data', () => {
    const { privateKey, address } = Wallet.createRandom()
    const signer = signerFromKey(privateKey)
    expect(signer.address).to.equal(address)
    for (const bytes of [0, 1, 31, 55, 56, 57, 255, 256, 1000]) {
      for (const fees of [
        { type: 2, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 0n },
        { type: 0, gasPrice: 127n },
      ] as const) {
        const transaction = {
          chainId: bytes % 2 === 0 ? 1n : 31337n,
          nonce: bytes,
          to: Wallet.createRandom().address,
          gasLimit: 21_000n + BigInt(bytes),
          data: hexlify(randomBytes(bytes)),
          fees,
        }
        const { hash, raw } = signer.sign(transaction)
        const parsed = Transaction.from(raw)
        expect(parsed.hash).to.equal(hash)
        expect(parsed.from).to.equal(address)
        const { chainId, nonce, to, gasLimit, data } = transaction
        expect({ chainId, nonce, to, gasLimit, data }).to.deep.equal({
          chainId: parsed.chainId,
          nonce: parsed.nonce,
          to: parsed.to,
          gasLimit: parsed.gasLimit,
          data: parsed.data,
        })
      }
    }
  })

  it('knows how large a transaction can become before it is signed', () => {
    const signer = signerFromKey(Wallet.createRandom().privateKey)
    const [chainId, gasCap, maxFeePerGasWei] = [31337n, 10_000_000n, 500_000_000_000n]
    for (const bytes of [0, 1, 55, 56, 200, 255, 256, 65_535, 65_536, 130_000]) {
      const largest = largestTransactionBytes(bytes, { chainId, gasCap, maxFeePerGasWei })
      const sizes = [0, 127, 0xffff_ffff].map((nonce) => {
        const fees = { type: 2, maxFeePerGas: maxFeePerGasWei, maxPriorityFeePerGas: maxFeePerGasWei } as const
        const data = `0x${'ff'.repeat(bytes)}`
        const { raw } = signer.sign({ chainId, nonce, to: signer.address, gasLimit: gasCap, data, fees })
        return raw.length / 2 - 1
      })
      // A signature is shorter by a byte now and then.
      expect(Math.max(...sizes)).to.be.within(largest - 4, largest)
    }
  })

  it('shows no key, however it is looked at', () => {
    const { privateKey } = Wallet.createRandom()
    const signer = signerFromKey(privateKey)
    const shown = inspect(signer, { depth: null, showHidden: true }) + JSON.stringify(signer)
    expect(shown.toLowerCase()).to.not.include(privateKey.slice(2).toLowerCase())
  })

  it('opens keystores, and says which one cannot be opened without quoting it', async () => {
    const wallet = Wallet.createRandom()
    // Cheap to open: this is no test of scrypt.
    const { address, privateKey } = wallet
    const json = await encryptKeystoreJson({ address, privateKey }, 'right', { scrypt: { N: 2, r: 1, p: 1 } })
    const [signer] = await openKeystores([{ file: 'relayer.json', json, password: 'right' }])
    expect(signer?.address).to.equal(wallet.address)
    const error = await openKeystores([{ file: 'relayer.json', json, password: 'wrong' }]).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).to.be.instanceOf(ConfigError)
    expect(inspect(error)).to.include('relayer.json').and.not.include('wrong')
    expect(inspect(error)).to.not.include(wallet.privateKey.slice(2))
  })

  describe('choice', () => {
    const accounts = Array.from({ length: 3 }, () => signerFromKey(Wallet.createRandom().privateKey))
    const [first, second, third] = accounts.map(({ address }) => address)

    function create(balances: Record<string, bigint>, pending: Record<string, bigint> = {}) {
      const refused = new Set<string>()
      const now = { ms: 0 }
      const lines: string[] = []
      const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) })
      const upstream: Upstream = {
        request: async <Result>(_method: string, [address]: readonly unknown[]) =>
          `0x${(balances[String(address)] ?? 0n).toString(16)}` as Result,
        close: async () => {},
      }
      const signers = createSigners({
        accounts,
        upstream,
        clock: { nowMs: () => 0, monotonicMs: () => now.ms },
        log,
        lowBalanceWei: ETHER,
        pendingCostWei: async (address) => pending[address] ?? 0n,
        isRefused: async (address) => refused.has(address),
      })
      return { signers, lines, balances, pending, refused, now }
    }
    const all = (wei: bigint) => Object.fromEntries(accounts.map(({ address }) => [address, wei]))

    it('takes the one with the least to do', async () => {
      const { signers } = create(all(10n * ETHER))
      const chosen = [await signers.choose(1n), await signers.choose(1n), await signers.choose(1n)]
      expect(new Set(chosen.map(({ account }) => account.address)).size).to.equal(3)
      chosen[1]?.done()
      expect((await signers.choose(1n)).account.address).to.equal(chosen[1]?.account.address)
    })

    it('leaves out who cannot pay, counting what is promised and what is pending', async () => {
      const { signers } = create({ ...all(10n * ETHER), [first ?? '']: 0n }, { [second ?? '']: 10n * ETHER })
      expect((await signers.choose(6n * ETHER)).account.address).to.equal(third)
      const error = await signers.choose(6n * ETHER).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(ServiceError)
      expect((error as ServiceError).code).to.equal('SIGNERS_UNAVAILABLE')
      expect((error as ServiceError).retryAfterSeconds).to.be.greaterThan(0)
    })

    it('forgets what was promised once that is done, and not before', async () => {
      const { signers } = create({ [first ?? '']: 10n * ETHER })
      const { done } = await signers.choose(6n * ETHER)
      const error = await signers.choose(6n * ETHER).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(ServiceError).with.property('code', 'SIGNERS_UNAVAILABLE')
      done()
      expect((await signers.choose(6n * ETHER)).account.address).to.equal(first)
    })

    it('stays with the one that has the calls before, even if another is free', async () => {
      const { signers } = create(all(10n * ETHER))
      for (let count = 0; count < 5; count++) {
        expect((await signers.choose(1n, second)).account.address).to.equal(second)
      }
    })

    it('refuses while the calls before are under an account that is not ours', async () => {
      const { signers } = create(all(10n * ETHER))
      const error = await signers.choose(1n, Wallet.createRandom().address).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(ServiceError)
      expect((error as ServiceError).code).to.equal('SIGNERS_UNAVAILABLE')
    })

    it('leaves out whose transactions the node refuses, by its own look or by that of another process', async () => {
      const { signers, refused } = create(all(10n * ETHER))
      expect(await signers.assertAble()).to.equal('ok')
      signers.leaveOut(first ?? '', true)
      refused.add(first ?? '').add(second ?? '')
      expect(await signers.assertAble()).to.equal('degraded')
      for (let count = 0; count < 5; count++) expect((await signers.choose(1n)).account.address).to.equal(third)
      signers.leaveOut(third ?? '', true)
      refused.add(third ?? '')
      for (const asked of [signers.choose(1n), signers.choose(1n, first), signers.assertAble()]) {
        const error = await asked.catch((thrown: unknown) => thrown)
        expect((error as ServiceError).code).to.equal('SIGNERS_UNAVAILABLE')
      }
      refused.delete(first ?? '')
      expect((await signers.choose(1n, first)).account.address).to.equal(first)
    })

    it('leaves out for a while whom another process holds, and says to come back soon', async () => {
      const { signers, now } = create({ [first ?? '']: 10n * ETHER })
      signers.setAside(first ?? '', 500)
      const error = (await signers.choose(1n).catch((thrown: unknown) => thrown)) as ServiceError
      expect(error).to.be.instanceOf(ServiceError).with.property('code', 'SIGNERS_UNAVAILABLE')
      expect(error.message).to.include('another process')
      expect(error.retryAfterSeconds).to.equal(2)
      now.ms = 500
      expect((await signers.choose(1n)).account.address).to.equal(first)
    })

    it('sees at once when somebody has been topped up', async () => {
      const { signers, balances } = create(all(0n))
      expect(await signers.choose(1n).catch((thrown: unknown) => thrown)).to.be.instanceOf(ServiceError)
      balances[third ?? ''] = ETHER
      expect((await signers.choose(1n)).account.address).to.equal(third)
    })

    it('is not able to work while nobody has a balance', async () => {
      const { signers, balances, now } = create(all(0n))
      const error: unknown = await signers.assertAble().catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(ServiceError).with.property('code', 'SIGNERS_UNAVAILABLE')
      balances[second ?? ''] = ETHER
      now.ms += 60_000
      expect(await signers.assertAble()).to.equal('ok')
    })

    it('warns once when a balance is low', async () => {
      const { signers, lines } = create({ ...all(10n * ETHER), [first ?? '']: ETHER - 1n })
      await signers.refresh()
      await signers.refresh()
      expect(lines.filter((line) => line.includes('balance'))).to.have.lengthOf(1)
      expect(lines[0]).to.include(first)
    })
  })
})
