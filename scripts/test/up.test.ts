import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { Fixture } from '../../contracts/deploy/fixture.ts'

describe('the command up', () => {
  let stateDir: string

  beforeEach(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'touchstone-up-'))
  })

  afterEach(() => rm(stateDir, { recursive: true, force: true }))

  function up(...args: string[]) {
    const script = join(import.meta.dirname, '../touchstone.ts')
    const child = spawn(process.execPath, [script, 'up', '--state-dir', stateDir, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const exited = once(child, 'exit') as Promise<[code: number | null, signal: string | null]>
    return { child, exited, errors: text(child.stderr) }
  }

  const readFixture = async () => JSON.parse(await readFile(join(stateDir, 'testbed.json'), 'utf8')) as Fixture

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`says where everything is and no key, and stops cleanly at ${signal}`, async () => {
      const { child, exited, errors } = up('--port', '0', '--chain-port', '0', '--block-time', '30')
      const lines: string[] = []
      let fixture: Fixture | undefined
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(line)
        if (!line.startsWith('Ctrl-C')) continue
        fixture = await readFixture()
        child.kill(signal)
      }
      expect(await exited).to.deep.equal([0, null])
      expect(await errors).to.equal('')
      expect(await readdir(stateDir), 'its keys go with it').to.deep.equal([])

      if (!fixture) throw new Error('the testbed never came up')
      const { server, chain, profile, controllers, funder } = fixture
      const shown = lines.join('\n')
      for (const place of [server.relayUrl, `${server.ethRpcBaseUrl}/api/eth-rpc`, chain.rpcUrl, profile.address]) {
        expect(shown).to.include(place)
      }
      for (const pair of [...Object.values(controllers), funder!])
        expect(shown).not.to.include(pair.privateKey.slice(2))
      for (const url of [server.relayUrl, chain.rpcUrl]) {
        const refused = await fetch(url).catch((error: unknown) => (error as Error).cause)
        expect(refused, url).to.have.property('code', 'ECONNREFUSED')
      }
    })
  }

  it('ends at a signal while it starts', async () => {
    const folder = join(stateDir, 'made when it starts')
    const watcher = watch(stateDir)
    const begun = once(watcher, 'change')
    const { child, exited, errors } = up('--port', '0', '--chain-port', '0', '--state-dir', folder)
    await begun
    watcher.close()
    child.kill('SIGINT')
    expect(await exited).to.deep.equal([0, null])
    expect(await errors).to.equal('')
    expect(await readdir(folder)).to.deep.equal([])
  })

  it('says in one line that its folder is none', async () => {
    const file = join(stateDir, 'file')
    await writeFile(file, '')
    const { exited, errors } = up('--port', '0', '--chain-port', '0', '--state-dir', file)
    expect(await exited).to.deep.equal([2, null])
    expect(await errors).to.match(/^--state-dir: .*file is no folder that can be written \(EEXIST\)\n$/)
  })

  for (const option of ['--port', '--chain-port'] as const) {
    it(`says in one line that its ${option} is taken`, async () => {
      const blocker = createServer().listen(0, '127.0.0.1')
      await once(blocker, 'listening')
      const { port } = blocker.address() as AddressInfo
      const { exited, errors } = up('--port', '0', '--chain-port', '0', option, String(port))
      expect(await exited).to.deep.equal([2, null])
      blocker.close()
      expect(await errors).to.match(new RegExp(`^.*127\\.0\\.0\\.1:${port}; choose another with ${option}\n$`))
    })
  }

  for (const [option, value] of [
    ['--port', '65536'],
    ['--port', 'http'],
    ['--chain-port', '-1'],
    ['--block-time', '0'],
  ] as const) {
    it(`refuses ${option} ${value} in one line`, async () => {
      const { exited, errors } = up(option, value)
      expect(await exited).to.deep.equal([2, null])
      expect(await errors)
        .to.match(/^.+\n$/)
        .and.to.include(option)
    })
  }
})
