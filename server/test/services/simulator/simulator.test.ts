import { expect } from 'chai'
import { readFile } from 'node:fs/promises'
import type { RelayCall } from '../../../core/define.ts'
import { createUpstream } from '../../../services/node/create-upstream.ts'
import { HttpNode } from '../../../services/node/http-node.ts'
import type { Upstream } from '../../../services/node/upstream.ts'
import { ServiceError } from '../../../core/errors.ts'
import { createProfiles, type Profiles } from '../../../services/profiles/profiles.ts'
import { compileSequences } from '../../../services/simulator/compile.ts'
import { keyManagerCalls, profileCalls } from '../../../ethereum/contracts.ts'
import { createNonceSlots } from '../../../services/simulator/nonce-slot.ts'
import { createSequenceRunner, type SequenceRunner } from '../../../services/simulator/sequences.ts'
import { createSimulator, permissionsIn, type Simulator } from '../../../services/simulator/simulator.ts'
import { transactionGas } from '../../../ethereum/transaction.ts'
import { permissionSets } from '../../../../contracts/deploy/profile.ts'
import { targetInterface } from '../../../../contracts/deploy/targets.ts'
import { deployOlderProfile, startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { callTarget, createRelayClient, setSomeData } from '../../support/relay-client.ts'
import { startRelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'
import { Wallet } from 'ethers'
import { pino } from 'pino'

const GAS_CAP = 10_000_000n

describe('simulator', () => {
  it('lends the code that its source compiles to', async () => {
    const path = new URL('../../../services/simulator/sequences.json', import.meta.url)
    expect(JSON.parse(await readFile(path, 'utf8'))).to.deep.equal(await compileSequences())
  })

  it('says of a node that knows no state overrides what is wrong with it', async () => {
    const upstream = { request: async () => '0x' } as unknown as Upstream
    const runner = createSequenceRunner({ upstream, from: `0x${'11'.repeat(20)}` })
    const failure: unknown = await runner.run({ sequences: [[]] }).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(ServiceError).with.property('code', 'UPSTREAM_UNAVAILABLE')
    expect((failure as Error).message).to.include('state overrides')
  })

  it('tells the operator of such a node when the server starts', async () => {
    class WithoutOverrides extends HttpNode {
      override call(method: string, params: readonly unknown[], timeoutMs: number) {
        return super.call(method, method === 'eth_call' ? params.slice(0, 2) : params, timeoutMs)
      }
    }
    const chain = await startRelayChain('hardhat', 1)
    const lines: string[] = []
    const server = await startRelayServer({
      rpcUrl: chain.node.rpcUrl,
      signerKeys: chain.signerKeys,
      log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
      compose: { edges: { connect: (url) => new WithoutOverrides(url) } },
    })
    try {
      await until(() => lines.length > 0)
      expect(lines.join('')).to.include('the node does not follow the state overrides of eth_call')
    } finally {
      await server.close()
      await chain.close()
    }
  })

  for (const kind of ['hardhat', 'anvil'] as const) {
    describe(`in front of ${kind}`, () => {
      let chain: RelayChain
      let upstream: Upstream
      let runner: SequenceRunner
      let simulator: Simulator
      let profiles: Profiles
      let channel = 0n

      before(async () => {
        chain = await startRelayChain(kind, 1)
        upstream = createUpstream({ rpcUrls: [chain.node.rpcUrl] })
        runner = createSequenceRunner({ upstream, from: chain.signers[0] ?? '' })
        simulator = createSimulator({ runner, gasCap: GAS_CAP })
        profiles = createProfiles({ runner })
      })
      beforeEach(() => channel++)
      after(async () => {
        await upstream.close()
        await chain.close()
      })

      const call = (payload: string, id = 0n, signer = chain.controllers.full): RelayCall => {
        const client = createRelayClient({
          url: '',
          chainId: chain.chainId,
          profile: chain.profile,
          controller: signer,
        })
        const { transaction } = client.sign({ channel, id, payload })
        const nonce = BigInt(transaction.nonce)
        return {
          profile: chain.profile.address,
          keyManager: chain.profile.keyManager,
          signer: signer.address,
          nonce,
          validityTimestamps: 0n,
          payload,
          callData: keyManagerCalls.executeRelayCall(transaction.signature, nonce, 0n, payload),
          nonceCallData: keyManagerCalls.getNonce(signer.address, channel),
          misreadings: () => [],
        }
      }
      const gasOf = async ({ callData, keyManager }: RelayCall): Promise<bigint> => {
        const hash = await chain.sender.send({ to: keyManager, data: callData })
        return BigInt((await chain.sender.mined(hash)).gasUsed)
      }

      it('reads what the chain says of profile, key manager and controller when a call fails', async () => {
        const result = await simulator.simulate({ pending: [], calls: [call(setSomeData(), 7n)] })
        expect(result.calls[0]?.kind).to.equal('reverts')
        expect(result.parties).to.deep.equal({
          owner: chain.profile.keyManager,
          target: chain.profile.address,
          permissions: permissionSets.full,
        })
        expect(result.nonce).to.equal(channel << 128n)
      })

      it('asks for no permissions when a call succeeds: the key manager has checked them', async () => {
        const [first, second] = [call(setSomeData()), call(setSomeData(), 1n)]
        const alone = await simulator.simulate({ pending: [], calls: [first] })
        const owners = { owner: chain.profile.keyManager, target: chain.profile.address }
        expect(alone.parties).to.deep.equal(owners)
        expect(alone.nonce).to.equal(first.nonce)
        const after = await simulator.simulate({ pending: [first.callData], calls: [second] })
        expect(after.parties).to.deep.equal(owners)
        expect(after.nonce).to.equal(first.nonce)
      })

      it('foresees the gas of a call, alone and after others', async () => {
        const calls = [0n, 1n, 2n].map((id) => call(callTarget(chain.target, 'succeed', [id]), id))
        const results = (await simulator.simulate({ pending: [], calls })).calls
        for (const [index, one] of calls.entries()) {
          const result = results[index]
          if (result?.kind !== 'succeeds') throw new Error(String(result?.kind))
          const used = await gasOf(one)
          // Before refunds, a fifth at most. Alone, it is the first to write what those before it will have written.
          expect(Number(result.gas)).to.be.within(Number(used), Number(used) * 1.25 + (index > 0 ? 45_000 : 5_000))
        }
      })

      it('tries a call on top of what is pending', async () => {
        const first = call(callTarget(chain.target, 'succeed', [1n]))
        const second = call(callTarget(chain.target, 'succeed', [2n]), 1n)
        const alone = await simulator.simulate({ pending: [], calls: [second] })
        expect(alone.calls[0]).to.deep.include({ kind: 'reverts' })
        const after = await simulator.simulate({ pending: [first.callData], calls: [second] })
        expect(after.calls[0]?.kind).to.equal('succeeds')
      })

      it('keeps simulations that share a call apart', async () => {
        const results = await Promise.all(
          Array.from({ length: 40 }, async () => {
            const one = call(callTarget(chain.target, 'succeed', [1n]))
            return simulator.simulate({ pending: [], calls: [one] })
          }),
        )
        const gas = new Set(results.map(({ calls }) => (calls[0]?.kind === 'succeeds' ? calls[0].gas : calls[0]?.kind)))
        expect(gas.size).to.equal(1)
        expect([...gas][0]).to.be.a('bigint')
      })

      it('says why a call reverts', async () => {
        const { calls } = await simulator.simulate({
          pending: [],
          calls: [call(callTarget(chain.target, 'refuseWithText', ['no']))],
        })
        expect(calls[0]).to.deep.include({ kind: 'reverts' })
        expect(calls[0]?.kind === 'reverts' && calls[0].reason).to.deep.include({
          name: 'Error',
          args: { message: 'no' },
        })
        const [refused] = (
          await simulator.simulate({ pending: [], calls: [call(setSomeData(), 0n, chain.controllers.noRelay)] })
        ).calls
        expect(refused?.kind === 'reverts' && refused.reason).to.deep.include({
          name: 'NotAuthorised',
          args: { from: chain.controllers.noRelay.address, permission: 'EXECUTE_RELAY_CALL' },
        })
      })

      it('lets no call use the gas of others, nor answer without end', async () => {
        const greedy = call(callTarget(chain.target, 'burnGas', [9_000_000n]))
        const results = await Promise.all(
          [greedy, greedy, call(setSomeData())].map((one) => simulator.simulate({ pending: [], calls: [one] })),
        )
        expect(results.map(({ calls }) => calls[0]?.kind)).to.deep.equal(['succeeds', 'succeeds', 'succeeds'])
        const tooMuch = call(callTarget(chain.target, 'burnGas', [GAS_CAP]))
        expect((await simulator.simulate({ pending: [], calls: [tooMuch] })).calls[0]?.kind).to.equal('exceeds-gas-cap')
        const text = 'x'.repeat(5_000)
        const [[outcome] = []] = await runner.run({
          sequences: [
            [
              {
                to: chain.target,
                gasLimit: 1_000_000n,
                data: targetInterface.encodeFunctionData('refuseWithText', [text]),
              },
            ],
          ],
        })
        expect(outcome?.returnData.length).to.equal(2 + 1024 * 2)
      })

      it('says that it did not run what the gas of the node does not suffice for', async () => {
        const pending = Array.from({ length: 12 }, (_, id) =>
          call(callTarget(chain.target, 'burnGas', [9_000_000n]), BigInt(id)),
        )
        const last = call(setSomeData(), BigInt(pending.length))
        const result = await simulator.simulate({ pending: pending.map(({ callData }) => callData), calls: [last] })
        expect(result.calls[0]?.kind).to.equal('not-simulated')
        expect(result.parties?.owner).to.equal(chain.profile.keyManager)
      })

      it('finds where a key manager keeps its nonces', async () => {
        const slots = createNonceSlots({ runner })
        const wanted = (channel << 128n) | 77n
        const { keyManager } = chain.profile
        const storage = await slots.override(keyManager, chain.controllers.full.address, wanted)
        if (!storage) throw new Error('not found')
        const data = keyManagerCalls.getNonce(chain.controllers.full.address, channel)
        const [[outcome] = []] = await runner.run({
          sequences: [[{ to: keyManager, gasLimit: 100_000n, data }]],
          storage,
        })
        expect(BigInt(outcome?.returnData ?? 0)).to.equal(wanted)
        expect(await slots.override(chain.target, chain.controllers.full.address, wanted)).to.equal(undefined)
      })

      it('runs a sequence as if it were alone: what one writes, the other does not see', async () => {
        const step = {
          to: chain.target,
          gasLimit: 200_000n,
          data: targetInterface.encodeFunctionData('succeed', [1n]),
        }
        const [one = [], other = []] = await runner.run({ sequences: [[step], [step, step]] })
        expect(one[0]?.returnData).to.equal(other[0]?.returnData)
        expect(one[0]?.gasUsed).to.equal(other[0]?.gasUsed)
        expect(BigInt(other[1]?.returnData ?? 0)).to.equal(BigInt(one[0]?.returnData ?? 0) + 1n)
      })

      it('refuses a key manager of an unknown version by name', async () => {
        const controller = new Wallet(Wallet.createRandom().privateKey)
        const permissions = permissionSets.full
        const older = await deployOlderProfile(
          '0.10.3',
          chain.node.wallet,
          [{ address: controller.address, permissions }],
          controller,
        )
        const known = await profiles.resolve(older.address.toLowerCase(), ['0x5ac79908', '0x38bb3cdb'])
        expect(known).to.deep.equal({ ...older, interfaceId: '0x38bb3cdb' })
        const error = await profiles.resolve(older.address, ['0x5ac79908']).catch((thrown: unknown) => thrown)
        expect(error).to.be.instanceOf(ServiceError)
        expect((error as ServiceError).code).to.equal('PROFILE_NOT_FOUND')
        expect((error as ServiceError).message).to.include('0x38bb3cdb')
      })
    })
  }

  it('counts call data as a transaction does, with the floor of EIP-7623', () => {
    expect(transactionGas('0x', 0n)).to.equal(21_000n)
    expect(transactionGas('0x00ff', 100_000n)).to.equal(21_000n + 4n + 16n + 100_000n)
    expect(transactionGas(`0x${'ff'.repeat(1000)}`, 0n)).to.equal(21_000n + 40_000n)
  })

  it('reads no permissions where none are set', () => {
    const outcome = (returnData: string) => ({ ran: true, success: true, gasUsed: 0n, returnData })
    expect(permissionsIn(undefined)).to.equal(0n)
    expect(permissionsIn(outcome('0x'))).to.equal(0n)
    expect(permissionsIn(outcome(`0x${'ff'.repeat(64)}`))).to.equal(0n)
    expect(profileCalls.permissions(Wallet.createRandom().address)).to.have.lengthOf(2 + 8 + 64)
  })
})
