import { expect } from 'chai'
import { Contract, JsonRpcProvider } from 'ethers'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { startChain, type RunningChain } from '../../contracts/chain.ts'
import type { Fixture } from '../../contracts/deploy/fixture.ts'
import { profileInterface } from '../../contracts/deploy/profile.ts'
import { validatorOf } from '../../server/core/validate.ts'
import { startAnvil } from '../../testbed/test/support/nodes.ts'

/**
 * A node that answers so.
 *
 * @param user the value of the header `Authorization` that it wants; absent: it wants none
 */
async function serveNode(answer: (body: string) => Promise<string>, user?: string) {
  const server = createServer((request, response) => {
    if (request.headers.authorization !== user) return response.writeHead(401).end()
    void text(request)
      .then(answer)
      .then((answered) => response.writeHead(200, { 'content-type': 'application/json' }).end(answered))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

describe('the command provision', () => {
  let chain: RunningChain
  let folder: string
  let fixtureFile: string

  before(async () => {
    chain = await startChain()
  })

  after(() => chain.close())

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'touchstone-provision-'))
    fixtureFile = join(folder, 'fixture.json')
  })

  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function provision(args: readonly string[], { key, input }: { key?: string | undefined; input?: string } = {}) {
    const script = join(import.meta.dirname, '../touchstone.ts')
    const env = { ...process.env }
    delete env['FUNDER_KEY']
    const child = spawn(process.execPath, [script, 'provision', '--fixture', fixtureFile, ...args], {
      env: { ...env, ...(key !== undefined && { FUNDER_KEY: key }) },
    })
    child.stdin.end(input)
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number]>,
    ])
    return { stdout, stderr, code }
  }

  const funderKey = () => chain.accounts[0]!.privateKey
  const readFixture = async () => JSON.parse(await readFile(fixtureFile, 'utf8')) as Fixture

  async function expectComplete(rpcUrl: string): Promise<void> {
    const fixture = await readFixture()
    expect(validatorOf('all-errors').compileKey('fixture')(fixture)).to.equal(true)
    expect(fixture.chain.rpcUrl).to.equal(rpcUrl)
    const provider = new JsonRpcProvider(rpcUrl)
    try {
      const profile = new Contract(fixture.profile.address, profileInterface, provider)
      expect(await profile.getFunction('owner')()).to.equal(fixture.profile.keyManager)
      const { emitter, fromBlock, toBlock, count } = fixture.logs
      const logs = await provider.getLogs({ address: emitter, fromBlock, toBlock })
      expect(logs).to.have.length(count)
      const blocks = logs.map(({ blockNumber }) => blockNumber)
      expect(new Set(blocks).size).to.be.at.least(3)
      expect(Math.max(...blocks.map((block) => blocks.filter((other) => other === block).length))).to.be.above(1000)
    } finally {
      provider.destroy()
    }
  }

  it('prepares a Hardhat chain, says what it does, and keeps the file to its owner', async () => {
    const args = [
      '--rpc-url',
      chain.rpcUrl,
      '--relay-url',
      'http://relay.test/base',
      '--eth-rpc-url',
      'http://rpc.test',
    ]
    const { code, stdout, stderr } = await provision(args, { key: funderKey() })
    expect(code, stderr).to.equal(0)
    await expectComplete(chain.rpcUrl)
    expect((await readFixture()).server).to.deep.equal({
      relayUrl: 'http://relay.test/base',
      ethRpcBaseUrl: 'http://rpc.test',
    })
    expect((await stat(fixtureFile)).mode & 0o777).to.equal(0o600)
    expect(await readdir(folder)).to.deep.equal(['fixture.json'])
    expect(stdout).to.equal('')
    expect(stderr).to.include('ownership handed to the key manager')
    for (const { privateKey } of [chain.accounts[0]!, ...Object.values((await readFixture()).controllers)]) {
      expect(stderr).not.to.include(privateKey.slice(2))
    }
  })

  it('prepares anvil', async () => {
    const anvil = await startAnvil()
    try {
      const { code, stderr } = await provision(['--rpc-url', anvil.rpcUrl], { key: funderKey() })
      expect(code, stderr).to.equal(0)
      await expectComplete(anvil.rpcUrl)
    } finally {
      await anvil.close()
    }
  })

  it('prepares a chain that mines at intervals', async () => {
    const slow = await startChain({ blockTimeSeconds: 0.5 })
    try {
      const { code, stderr } = await provision(['--rpc-url', slow.rpcUrl], { key: funderKey() })
      expect(code, stderr).to.equal(0)
      await expectComplete(slow.rpcUrl)
    } finally {
      await slow.close()
    }
  })

  it('pauses for the registration, and goes on later with what is done', async () => {
    const paused = await provision(['--rpc-url', chain.rpcUrl, '--pause'], { key: funderKey() })
    expect(paused.code).to.equal(0)
    expect(await readdir(folder)).to.deep.equal(['fixture.json.partial'])
    const profile = /profile\s+(0x\w+)/.exec(paused.stderr.split('Register')[1] ?? '')?.[1]

    const resumed = await provision(['--rpc-url', chain.rpcUrl, '--pause'], { key: funderKey(), input: '\n' })
    expect(resumed.code, resumed.stderr).to.equal(0)
    expect((await readFixture()).profile.address).to.equal(profile)
    expect(await readdir(folder)).to.deep.equal(['fixture.json'])
  })

  it('does not write over the keys of another profile', async () => {
    await writeFile(fixtureFile, '{}')
    const { code, stderr } = await provision(['--rpc-url', chain.rpcUrl], { key: funderKey() })
    expect(code).to.equal(2)
    expect(stderr)
      .to.include(fixtureFile)
      .and.to.match(/^.*\n$/)
    expect(await readFile(fixtureFile, 'utf8')).to.equal('{}')
  })

  it('asks as the user in the URL, and repeats what the node says, where ethers does not know it', async () => {
    // EthereumJS refuses every estimate by these words on a chain with proof of authority.
    const said = 'extraData must be 97 bytes on non-epoch transition blocks, received 0 bytes'
    const headers = { 'content-type': 'application/json' }
    const answer = async (body: string) => {
      const { id, method } = JSON.parse(body) as { id: number; method: string }
      if (method === 'eth_estimateGas')
        return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message: said } })
      return (await fetch(chain.rpcUrl, { method: 'POST', headers, body })).text()
    }
    const user = `Basic ${Buffer.from('me:p@ss').toString('base64')}`
    await using node = await serveNode(answer, user)
    const url = node.url.replace('//', '//me:p%40ss@')
    const { code, stderr } = await provision(['--rpc-url', url], { key: funderKey() })
    expect(code).to.equal(2)
    expect(stderr).to.match(/^.*\n$/)
    expect(stderr).to.include(`the node says: ${said};`)
  })

  it('waits for a node that limits requests', async () => {
    const headers = { 'content-type': 'application/json' }
    let asked = 0
    await using node = await serveNode(async (body) => {
      const { id } = JSON.parse(body) as { id: number }
      // The first one asks for the chain.
      if (asked++ % 20 === 1)
        return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32005, message: 'limit exceeded' } })
      return (await fetch(chain.rpcUrl, { method: 'POST', headers, body })).text()
    })
    const { code, stderr } = await provision(['--rpc-url', node.url], { key: funderKey() })
    expect(code, stderr).to.equal(0)
  })

  it('says in one line that a node tells no balance', async () => {
    await using node = await serveNode(async (body) => {
      const { id, method } = JSON.parse(body) as { id: number; method: string }
      const outcome = method === 'eth_chainId' ? { result: '0x5' } : { error: { code: -32601, message: 'not here' } }
      return JSON.stringify({ jsonrpc: '2.0', id, ...outcome })
    })
    const { code, stderr } = await provision(['--rpc-url', node.url], { key: funderKey() })
    expect(code).to.equal(2)
    expect(stderr).to.match(/^the node does not tell what 0x\S+ holds, or what gas costs: .*not here.*\n$/)
  })

  for (const [title, args, key] of [
    ['no node answers', ['--rpc-url', 'http://127.0.0.1:9'], '0x' + '01'.repeat(32)],
    ['the URL of the node is none', ['--rpc-url', 'http://127.0.0.1:99999'], '0x' + '01'.repeat(32)],
    ['the funder has no coin', [], '0x' + '01'.repeat(32)],
    ['the key is malformed', [], '0xabcd'],
    ['there is no key', [], undefined],
  ] as const) {
    it(`says in one line that ${title}`, async () => {
      const { code, stdout, stderr } = await provision(['--rpc-url', chain.rpcUrl, ...args], { key })
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
      expect(stderr).to.match(/^.+\n$/)
      if (key !== undefined) expect(stderr).not.to.include(key)
      expect(await readdir(folder), 'nothing was begun').to.deep.equal([])
    })
  }
})
