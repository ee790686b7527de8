import { expect } from 'chai'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startTestbed, type Testbed } from '../../testbed/testbed.ts'
import { testSigner } from '../../contracts/chain.ts'
import { loadConfig } from '../config/load.ts'
import { startServer, type RunningServer } from '../start.ts'
import { createRelayClient } from './support/relay-client.ts'
import { until } from './support/until.ts'

const packageName = 'touchstone-plugin-example'
const fixture = join(import.meta.dirname, 'fixtures', packageName)

/** The fenced blocks of a page that name a file. */
async function filesOfPage(name = 'plugins.md'): Promise<Map<string, string>> {
  const page = join(import.meta.dirname, '../../docs', name)
  const blocks = (await readFile(page, 'utf8')).matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)
  return new Map([...blocks].map(([, name = '', text = '']) => [name, text]))
}

describe('plugins of another package', () => {
  let testbed: Testbed
  let folder: string
  let configFile: string
  let server: RunningServer | undefined

  before(async () => {
    testbed = await startTestbed()
    folder = await mkdtemp(join(tmpdir(), 'touchstone-plugins-'))
    configFile = join(folder, 'relay.yaml')
    const touchstone = join(folder, 'node_modules/touchstone')
    await mkdir(touchstone, { recursive: true })
    // The sources, under the package's name.
    await writeFile(join(touchstone, 'package.json'), '{"name":"touchstone","exports":{"./plugin":"./plugin.js"}}')
    const api = join(import.meta.dirname, '../plugin-api.ts')
    await writeFile(join(touchstone, 'plugin.js'), `export * from '${api}'\n`)
  })
  after(async () => {
    await testbed.close()
    await rm(folder, { recursive: true, force: true })
  })
  afterEach(async () => {
    await server?.close()
    server = undefined
    await rm(join(folder, 'node_modules', packageName), { recursive: true, force: true })
  })

  /** By the configuration file, as the command `serve` does it. */
  const start = async () =>
    startServer(
      await loadConfig(configFile, {
        TOUCHSTONE_CHAIN_RPC_URLS: testbed.rpcUrl,
        TOUCHSTONE_DATABASE_FOLDER: 'null',
        TOUCHSTONE_LISTEN_PORT: '0',
        TOUCHSTONE_LOG_LEVEL: 'silent',
        TOUCHSTONE_SIGNER_KEYS: testSigner(testbed.chain, 10).privateKey,
      }),
    )

  async function serves(url: string): Promise<void> {
    const { profile, controllers, chain } = testbed.fixture
    const call = async (params: readonly string[]) => {
      const response = await fetch(`${url}/api/eth-rpc`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'example_canRelay', params }),
      })
      return (await response.json()) as { result?: unknown; error?: { code: number } }
    }
    expect(await call([profile.address, controllers.full.address])).to.have.property('result', true)
    expect(await call([profile.address, controllers.noRelay.address])).to.have.property('result', false)
    expect((await call([profile.address])).error?.code).to.equal(-32602)

    const client = createRelayClient({ url, chainId: chain.chainId, profile, controller: controllers.full })
    const quota = async () => (await client.quota()).json
    expect(await quota()).to.include({ quota: 3, totalQuota: 3, unit: 'transactionCount' })
    const channel = BigInt(Date.now())
    expect((await client.execute({ channel })).status).to.equal(200)
    await until(async () => (await quota())['quota'] === 2)
  }

  it('are loaded by the name of the package, and serve', async () => {
    await cp(fixture, join(folder, 'node_modules', packageName), { recursive: true })
    await writeFile(configFile, (await filesOfPage()).get('relay.yaml') ?? '')
    server = await start()
    await serves(server.url)
  })

  it('work as the page "Write a plugin" says, step by step', async () => {
    for (const [name, text] of await filesOfPage()) {
      const path = name === 'relay.yaml' ? configFile : join(folder, 'node_modules', packageName, name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, text)
    }
    server = await start()
    await serves(server.url)
  })

  it('are the same on the pages and in the example package', async () => {
    const files = new Map([...(await filesOfPage()), ...(await filesOfPage('suites.md'))])
    files.delete('relay.yaml')
    expect([...files.keys()].sort()).to.deep.equal((await readdir(fixture)).sort())
    for (const [name, text] of files) expect(await readFile(join(fixture, name), 'utf8'), name).to.equal(text)
  })

  it('stop the start with one line when they are broken', async () => {
    // Under a name of its own: Node imports a module once.
    const name = 'touchstone-plugin-broken'
    const broken = join(folder, 'node_modules', name)
    await cp(fixture, broken, { recursive: true })
    const text = await readFile(join(broken, 'can-relay.js'), 'utf8')
    await writeFile(join(broken, 'can-relay.js'), text.replace("needs: ['profiles']", "needs: ['profile']"))
    const config = (await filesOfPage()).get('relay.yaml') ?? ''
    await writeFile(configFile, config.replace(packageName, name))
    const error = await start().then(
      async (started) => (server = started),
      (reason: unknown) => reason,
    )
    expect(error).to.have.property(
      'message',
      `plugin ${name}: needs/0: there is no service 'profile'; did you mean profiles?`,
    )
  })
})
