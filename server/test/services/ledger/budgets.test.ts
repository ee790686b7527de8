import { expect } from 'chai'
import { keccak256, Wallet } from 'ethers'
import { permissionSets } from '../../../../contracts/deploy/profile.ts'
import { createUpstream } from '../../../services/node/create-upstream.ts'
import type { Upstream } from '../../../services/node/upstream.ts'
import { createKeyManagerCodes } from '../../../services/ledger/budgets.ts'
import { publishedCodes } from '../../../services/ledger/published-codes.ts'
import { deployImpostor } from '../../../../contracts/deploy/targets.ts'
import {
  deployOlderProfile,
  deployProxiedProfile,
  minimalProxyOf,
  startRelayChain,
  type RelayChain,
} from '../../support/relay-chain.ts'

describe('what key managers run', () => {
  let chain: RelayChain
  let upstream: Upstream
  let impostor: string
  let behindProxy: string

  before(async () => {
    chain = await startRelayChain('hardhat', 1)
    // The other versions are deployed past the sender, which counts its nonces.
    impostor = (await deployImpostor(chain.sender)).keyManager
    behindProxy = (await chain.anotherProfile(deployProxiedProfile)).keyManager
    upstream = createUpstream({ rpcUrls: [chain.node.rpcUrl] })
  })
  after(async () => {
    await upstream.close()
    await chain.close()
  })

  const setCode = (address: string, code: string) => chain.node.request('hardhat_setCode', address, code)

  it('is known of the published contracts, as they are deployed', async () => {
    const codes = createKeyManagerCodes(upstream)
    expect(await codes.of(chain.profile.keyManager)).to.equal(publishedCodes['@lukso/lsp6-contracts@0.15.5'].contract)
    const controller = new Wallet(Wallet.createRandom().privateKey)
    const full = [{ address: controller.address, permissions: permissionSets.full }]
    for (const [version, code] of [
      ['0.10.3', publishedCodes['@lukso/lsp-smart-contracts@0.10.3'].contract],
      ['0.8.1', publishedCodes['@lukso/lsp-smart-contracts@0.8.2'].contract],
    ] as const) {
      const older = await deployOlderProfile(version, chain.node.wallet, full, controller)
      expect(await codes.of(older.keyManager), version).to.equal(code)
    }
  })

  it('is known of proxies that stand for a published contract', async () => {
    const code = publishedCodes['@lukso/lsp6-contracts@0.15.5'].behindProxies
    expect(await createKeyManagerCodes(upstream).of(behindProxy)).to.equal(code)
  })

  it('is not known of anything else, unless the operator says so', async () => {
    const proxy = Wallet.createRandom().address
    await setCode(proxy, minimalProxyOf(impostor))
    const codes = createKeyManagerCodes(upstream)
    expect(await codes.of(impostor)).to.equal('unknown')
    expect(await codes.of(proxy)).to.equal('unknown')
    const hash = keccak256(await chain.node.request<string>('eth_getCode', impostor, 'latest'))
    const told = createKeyManagerCodes(upstream, [hash.toUpperCase().replace('0X', '0x')])
    expect(await told.of(impostor)).to.equal(hash)
    expect(await told.of(proxy)).to.equal(hash)
  })
})
