import { expect } from 'chai'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startChain } from '../../../contracts/chain.ts'
import type { Fixture } from '../../../contracts/deploy/fixture.ts'
import type { Report } from '../../../conformance/lib/report-types.ts'

const root = join(import.meta.dirname, '../../..')
const hardhat = join(root, 'node_modules/hardhat/dist/src/cli.js')
const env = { ...process.env, HARDHAT_DISABLE_TELEMETRY: 'true' }

/** A project of somebody else: a chain id of its own, and nothing that hints at ours. */
const config = (nodeUrl: string) => `import { defineConfig } from 'hardhat/config'
import touchstone from 'touchstone/hardhat'

export default defineConfig({
  plugins: [touchstone],
  networks: {
    own: { type: 'edr-simulated', chainId: 424242 },
    local: { type: 'http', url: '${nodeUrl}' },
  },
})
`

describe('the Hardhat plugin', () => {
  let project: string

  beforeEach(async () => {
    project = await mkdtemp(join(tmpdir(), 'touchstone-hardhat-'))
    const entry = join(project, 'node_modules/touchstone')
    await mkdir(entry, { recursive: true })
    await symlink(join(root, 'node_modules/hardhat'), join(project, 'node_modules/hardhat'))
    // The sources, under the package's name.
    await writeFile(join(entry, 'package.json'), '{"name":"touchstone","exports":{"./hardhat":"./hardhat.js"}}')
    await writeFile(join(entry, 'hardhat.js'), `export { default } from '${join(root, 'scripts/hardhat/index.ts')}'\n`)
    await writeFile(join(project, 'package.json'), '{"type":"module"}')
    await writeFile(join(project, 'hardhat.config.ts'), config('http://127.0.0.1:9'))
  })

  afterEach(() => rm(project, { recursive: true, force: true }))

  const readJson = async (file: string): Promise<unknown> => JSON.parse(await readFile(join(project, file), 'utf8'))

  function runHardhat(...args: string[]): Promise<{ code: number; output: string }> {
    const { promise, resolve } = Promise.withResolvers<{ code: number; output: string }>()
    const child = execFile(process.execPath, [hardhat, ...args], { cwd: project, env }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
    )
    return promise
  }

  const onlyOne = ['--only', 'relay.execute.execute-relay-call', '--report', 'json=report.json,markdown=report.md']

  it("checks the relay on a simulated network of the project's own", async () => {
    const { code, output } = await runHardhat('relay:check', '--network', 'own', ...onlyOne)
    expect(code, output).to.equal(0)
    const report = (await readJson('report.json')) as Report
    expect(report.summary.required).to.deep.equal({ passed: 1, failed: 0, untestable: 0 })
    expect(await readFile(join(project, 'report.md'), 'utf8')).to.include('relay.execute.execute-relay-call')
  })

  it('checks the relay on a node that runs already', async () => {
    const chain = await startChain()
    await writeFile(join(project, 'hardhat.config.ts'), config(chain.rpcUrl))
    const { code, output } = await runHardhat('relay:check', '--network', 'local', ...onlyOne)
    const blocks = Number(await chain.provider.request({ method: 'eth_blockNumber' }))
    await chain.close()
    expect(code, output).to.equal(0)
    expect(blocks).to.be.above(0)
  })

  it('hands on the exit code of the suite', async () => {
    const { code, output } = await runHardhat('relay:check', '--only', 'relay.no-such-clause')
    expect(code, output).to.equal(2)
    expect(output).to.include('no clause of the target is named relay.no-such-clause')
  })

  it('keeps the relay up until it is stopped, with a fixture to try it', async () => {
    const args = [hardhat, 'relay:up', '--port', '0', '--network', 'own']
    const child = spawn(process.execPath, args, { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(child, 'exit')
    for await (const line of createInterface({ input: child.stdout })) if (line.startsWith('fixture')) break
    const { server, chain } = (await readJson('.touchstone/testbed.json')) as Fixture
    expect(chain.chainId).to.equal(424242)
    expect((await fetch(`${server.relayUrl}/healthz`)).status).to.equal(200)
    child.kill('SIGTERM')
    expect(await exited).to.deep.equal([0, null])
  })
})
