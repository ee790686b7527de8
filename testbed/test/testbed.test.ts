import { expect } from 'chai'
import { Contract, parseEther } from 'ethers'
import { readdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyManagerInterface, profileInterface } from '../../contracts/deploy/profile.ts'
import { relayNonce, signRelayCall } from '../../contracts/lsp25.ts'
import { connect } from '../../contracts/chain.ts'
import { validatorOf } from '../../server/core/validate.ts'
import { startTestbed, type Testbed } from '../testbed.ts'

describe('startTestbed', () => {
  let testbed: Testbed
  let stateDir: string

  before(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'touchstone-testbed-'))
    testbed = await startTestbed({ stateDir })
  })

  after(async () => {
    await testbed.close()
    await rm(stateDir, { recursive: true, force: true })
  })

  async function post(url: string, body: object): Promise<{ status: number; answer: Record<string, unknown> }> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, answer: (await response.json()) as Record<string, unknown> }
  }

  it('writes the fixture file, and it says where everything is', async () => {
    const written = JSON.parse(await readFile(join(stateDir, 'testbed.json'), 'utf8')) as object
    expect(validatorOf('all-errors').compileKey('fixture')(written)).to.equal(true)
    expect(written).to.deep.equal(testbed.fixture)
    expect(written).to.deep.include({
      chain: { rpcUrl: testbed.rpcUrl, chainId: 31337 },
      server: { relayUrl: testbed.relayUrl, ethRpcBaseUrl: testbed.ethRpcBaseUrl },
    })
    expect(await readdir(stateDir)).to.deep.equal(['testbed.json'])
  })

  it('has the same addresses each time, and a profile with coin to send', async () => {
    expect(testbed.fixture.profile).to.deep.equal({
      address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
      keyManager: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
    })
    expect(await connect(testbed.chain).getBalance(testbed.fixture.profile.address)).to.equal(parseEther('100'))
  })

  it('relays a signed call: over HTTP in, a transaction on the chain out', async () => {
    const { profile, controllers } = testbed.fixture
    const key = '0x' + '77'.repeat(32)
    const payload = profileInterface.encodeFunctionData('setData', [key, '0xc0ffee'])
    const nonce = relayNonce(9n, 0n)
    const message = { keyManager: profile.keyManager, chainId: testbed.chain.chainId, nonce, payload }
    const { status, answer } = await post(`${testbed.relayUrl}/execute`, {
      address: profile.address,
      transaction: {
        abi: payload,
        signature: signRelayCall(message, controllers.full.privateKey),
        nonce: String(nonce),
      },
    })
    expect(status, JSON.stringify(answer)).to.equal(200)
    const provider = connect(testbed.chain)
    const receipt = await provider.waitForTransaction(answer['transactionHash'] as string)
    expect(receipt).to.include({ status: 1, to: profile.keyManager })
    expect(await new Contract(profile.address, profileInterface, provider).getFunction('getData')(key)).to.equal(
      '0xc0ffee',
    )
    const keyManager = new Contract(profile.keyManager, keyManagerInterface, provider)
    expect(await keyManager.getFunction('getNonce')(controllers.full.address, 9n)).to.equal(nonce + 1n)
  })

  it('serves the chain', async () => {
    const { answer } = await post(`${testbed.ethRpcBaseUrl}/api/eth-rpc`, {
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_chainId',
      params: [],
    })
    expect(answer).to.include({ result: '0x7a69' })
  })

  it('leaves nothing running when its port is taken', async () => {
    const blocker = createServer().listen(0, '127.0.0.1')
    const chainBlocker = createServer().listen(0, '127.0.0.1')
    await Promise.all([once(blocker, 'listening'), once(chainBlocker, 'listening')])
    const { port } = blocker.address() as AddressInfo
    const { port: chainPort } = chainBlocker.address() as AddressInfo
    chainBlocker.close()
    await once(chainBlocker, 'close')
    const error = await startTestbed({ port, chainPort }).catch((reason: unknown) => reason)
    blocker.close()
    expect(error).to.include({ code: 'EADDRINUSE', port })
    const again = createServer().listen(chainPort, '127.0.0.1')
    await once(again, 'listening')
    again.close()
  })
})
