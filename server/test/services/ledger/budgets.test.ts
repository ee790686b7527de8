import { expect } from 'chai'
import { keccak256, Wallet } from 'ethers'
import { readFile } from 'node:fs/promises'
import { permissionSets } from '../../../../contracts/deploy/profile.ts'
import { createUpstream } from '../../../services/node/create-upstream.ts'
import type { Upstream } from '../../../services/node/upstream.ts'
import { createKeyManagerCodes, publishedCodes } from '../../../services/ledger/budgets.ts'
import { deployImpostor } from '../../../../contracts/deploy/targets.ts'
import { deployOlderProfile, startRelayChain, type RelayChain } from '../../support/relay-chain.ts'

describe('what key managers run', () => {
  let chain: RelayChain
  let upstream: Upstream
  let impostor: string

  before(async () => {
    chain = await startRelayChain('hardhat', 1)
    // The other versions are deployed past the sender, which counts its nonces.
    impostor = (await deployImpostor(chain.sender)).keyManager
    upstream = createUpstream({ rpcUrls: [chain.node.rpcUrl] })
  })
  after(async () => {
    await upstream.close()
    await chain.close()
  })

  const setCode = (address: string, code: string) => chain.node.request('hardhat_setCode', address, code)
  const proxyOf = (implementation: string) =>
    `0x363d3d373d3d3d363d73${implementation.slice(2).toLowerCase()}5af43d82803e903d91602b57fd5bf3`

  it('is known of the published contracts, as they are deployed', async () => {
    const codes = createKeyManagerCodes(upstream)
    expect(await codes.of(chain.profile.keyManager)).to.equal(publishedCodes[0])
    const controller = new Wallet(Wallet.createRandom().privateKey)
    const full = [{ address: controller.address, permissions: permissionSets.full }]
    for (const [version, code] of [
      ['0.10.3', publishedCodes[2]],
      ['0.8.1', publishedCodes[4]],
    ] as const) {
      const older = await deployOlderProfile(version, chain.node.wallet, full, controller)
      expect(await codes.of(older.keyManager), version).to.equal(code)
    }
  })

  it('is known of proxies that stand for a published contract', async () => {
    const path = new URL(
      '../../../../node_modules/@lukso/lsp6-contracts/artifacts/LSP6KeyManagerInit.json',
      import.meta.url,
    )
    const { deployedBytecode } = JSON.parse(await readFile(path, 'utf8')) as { deployedBytecode: string }
    const [implementation, proxy] = [Wallet.createRandom().address, Wallet.createRandom().address]
    await setCode(implementation, deployedBytecode)
    await setCode(proxy, proxyOf(implementation))
    expect(await createKeyManagerCodes(upstream).of(proxy)).to.equal(publishedCodes[1])
  })

  it('is not known of anything else, unless the operator says so', async () => {
    const proxy = Wallet.createRandom().address
    await setCode(proxy, proxyOf(impostor))
    const codes = createKeyManagerCodes(upstream)
    expect(await codes.of(impostor)).to.equal('unknown')
    expect(await codes.of(proxy)).to.equal('unknown')
    const hash = keccak256(await chain.node.request<string>('eth_getCode', impostor, 'latest'))
    const told = createKeyManagerCodes(upstream, [hash.toUpperCase().replace('0X', '0x')])
    expect(await told.of(impostor)).to.equal(hash)
    expect(await told.of(proxy)).to.equal(hash)
  })
})
