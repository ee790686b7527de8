import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inherited } from './support/inherited.ts'
import { startRelayChain, type RelayChain } from './support/relay-chain.ts'
import { startRelayServer, type RelayServer } from './support/relay-server.ts'

const entry = join(import.meta.dirname, '../../scripts/touchstone.ts')

describe('the command profiles, on the embedded database', () => {
  let chain: RelayChain
  let folder: string
  let server: RelayServer | undefined
  let config: Readonly<Record<string, unknown>>

  before(async () => {
    chain = await startRelayChain('hardhat', 1)
    folder = await mkdtemp(join(tmpdir(), 'touchstone-test-'))
    config = {
      database: { folder: join(folder, 'database') },
      registration: 'registered',
      quota: { plans: { default: { model: 'transaction-count', options: { transactionsPerPeriod: 7 } } } },
    }
    const file = { ...config, chain: { rpcUrls: [chain.node.rpcUrl] } }
    await writeFile(join(folder, 'relay.json'), JSON.stringify(file))
    server = await startRelayServer({ rpcUrl: chain.node.rpcUrl, signerKeys: chain.signerKeys, config })
  })
  after(async () => {
    await server?.close()
    await chain.close()
    await rm(folder, { recursive: true, force: true })
  })

  const profiles = (...args: string[]) =>
    new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
      const argv = [entry, 'profiles', '--config', join(folder, 'relay.json'), ...args]
      const child = execFile(process.execPath, argv, { env: inherited() }, (_error, stdout, stderr) =>
        resolve({ code: child.exitCode, stdout, stderr }),
      )
    })

  it('registers a profile while the server runs, and the server knows at once', async () => {
    const client = chain.client(server?.url ?? '')
    const { address } = client.profile
    expect((await client.execute()).json.code).to.equal('PROFILE_NOT_REGISTERED')
    const added = await profiles('add', address)
    expect(added, added.stderr).to.include({ code: 0, stderr: '' })
    expect(added.stdout).to.match(
      new RegExp(`^${address}  registered  default  7 of 7 transactionCount left, resets .+\n$`),
    )
    expect((await client.execute()).status).to.equal(200)
    expect((await profiles('top-up', address, '3')).stdout).to.include(' 9 of 10 transactionCount left')
    expect((await profiles('suspend', address)).stdout).to.include(`${address}  suspended`)
    expect((await client.execute({ channel: 1n })).json.code).to.equal('PROFILE_NOT_REGISTERED')

    await server?.close()
    server = undefined
    const listed = await profiles('--chain-id', '0x7a69', '--json', 'list')
    const [found, ...others] = JSON.parse(listed.stdout) as Record<string, unknown>[]
    expect(found).to.include({ address, state: 'suspended', available: 9, allowance: 10 })
    expect(others).to.deep.equal([])
  })

  it('refuses what is no id of a chain', async () => {
    const { code, stdout, stderr } = await profiles('--chain-id', '-1', 'list')
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
    expect(stderr).to.match(/^error: option '--chain-id <id>' argument '-1' is invalid\. .+\n$/)
  })

  it('refuses in one line what is not there', async () => {
    const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
    expect(await profiles('add', address, 'defualt')).to.deep.equal({
      code: 1,
      stdout: '',
      stderr: "there is no plan 'defualt'; did you mean default?\n",
    })
  })
})
