import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { startChain, type RunningChain } from '../../contracts/chain.ts'
import { inherited } from './support/inherited.ts'
import { until } from './support/until.ts'

const entry = path.join(import.meta.dirname, '../../scripts/touchstone.ts')

describe('the command serve', () => {
  let chain: RunningChain
  let folder: string
  let key: string
  before(async () => {
    chain = await startChain()
    key = chain.accounts[10]?.privateKey ?? ''
    folder = await mkdtemp(path.join(tmpdir(), 'touchstone-serve-'))
  })
  after(async () => {
    await chain.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function serve(config: object, options: { args?: string[]; env?: Record<string, string> } = {}) {
    const file = path.join(folder, `${Math.random()}.json`)
    await writeFile(file, JSON.stringify(config))
    const child = spawn(process.execPath, [entry, 'serve', '--config', file, ...(options.args ?? [])], {
      env: { ...inherited(), TOUCHSTONE_SIGNER_KEYS: key, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
    return { child, exit, stdout: text(child.stdout), stderr: text(child.stderr) }
  }
  const working = () => ({
    listen: { port: 0 },
    chain: { rpcUrls: [chain.rpcUrl] },
    database: { folder: null },
    registration: 'open',
  })

  it('serves until it is told to stop, and logs no key', async () => {
    const { child, exit, stdout, stderr } = await serve(working())
    let log = ''
    child.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()))
    await until(() => log.includes('"url"'))
    const url = /"url":"([^"]+)"/.exec(log)?.[1] ?? ''
    expect((await fetch(`${url}/readyz`)).status).to.equal(200)
    child.kill('SIGTERM')
    expect((await exit)[0]).to.equal(0)
    expect((await stdout) + (await stderr)).not.to.include(key.slice(2))
  })

  it('writes no key into a diagnostic report', async () => {
    const reports = await mkdtemp(path.join(folder, 'reports-'))
    const { NODE_OPTIONS = '' } = process.env
    const options = `${NODE_OPTIONS} --report-on-signal --report-uncaught-exception --report-directory=${reports}`
    const { child, exit } = await serve(working(), { env: { NODE_OPTIONS: options } })
    let log = ''
    child.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()))
    await until(() => log.includes('"url"'))
    child.kill('SIGUSR2')
    const isWhole = (report: string) => report.trimEnd().endsWith('}')
    let report = ''
    await until(async () => {
      const [name] = await readdir(reports)
      if (name !== undefined) report = await readFile(path.join(reports, name), 'utf8')
      return isWhole(report)
    })
    child.kill('SIGTERM')
    await exit
    expect(report).to.include('javascriptStack')
    expect(report).not.to.include(key.slice(2))
  })

  it('shows what is in force, secrets redacted', async () => {
    const { exit, stdout } = await serve(working(), {
      args: ['--print-config'],
      env: { TOUCHSTONE_LISTEN_HOST: '127.0.0.2', DATABASE_URL: 'postgresql://user:hunter2@db/relay' },
    })
    const shown = await stdout
    expect((await exit)[0]).to.equal(0)
    expect(JSON.parse(shown)).to.nested.include({ 'listen.host': '127.0.0.2', 'relay.gasCap': 10_000_000 })
    expect(shown).to.not.include(key.slice(2)).and.not.include('hunter2')
  })

  it('shows nothing as in force that it would not start with', async () => {
    const plans = { default: { model: 'transaction-count', options: { count: 5 } } }
    const { exit, stdout, stderr } = await serve({ ...working(), quota: { plans } }, { args: ['--print-config'] })
    expect((await exit)[0]).to.equal(2)
    expect(await stdout).to.equal('')
    expect(await stderr)
      .to.include('quota/plans/default')
      .and.include("'count'")
  })

  it('starts no workers where they cannot serve together', async () => {
    const cases: [says: string, workers: string, env: Record<string, string>][] = [
      ['DATABASE_URL', '2', {}],
      ['a whole number from 1 to 64', '0', {}],
      ['a whole number from 1 to 64', 'two', {}],
      // What keeps the first one from starting is said once.
      ['the database cannot be reached', '3', { DATABASE_URL: 'postgresql://127.0.0.1:9/relay' }],
    ]
    const outcomes = await Promise.all(
      cases.map(async ([says, workers, env]) => {
        const { exit, stderr } = await serve(working(), { args: ['--workers', workers], env })
        return { says, code: (await exit)[0], lines: (await stderr).trim().split('\n') }
      }),
    )
    for (const { says, code, lines } of outcomes) {
      expect(code, says).to.equal(2)
      expect(lines, says).to.have.length(1)
      expect(lines[0]).to.include(says)
    }
  }).timeout(60_000)

  it('ends with one line and exit code 2 for what can be mended', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const open = path.join(folder, 'open')
    await mkdir(open)
    await chmod(open, 0o755)
    const cases: [says: string, config: object, env?: Record<string, string>][] = [
      ['EADDRINUSE', { ...working(), listen: { port } }],
      ['unknown member lisen; did you mean listen?', { ...working(), lisen: {} }],
      ['no-such-plugin', { ...working(), plugins: { external: ['no-such-plugin'] } }],
      [
        "quota/plans/gold: there is no quota model 'transactions-count'; did you mean transaction-count?",
        { ...working(), quota: { defaultPlan: 'gold', plans: { gold: { model: 'transactions-count' } } } },
      ],
      [
        'no node of chain.rpcUrls answers: 127.0.0.1:9 (',
        { ...working(), chain: { rpcUrls: ['http://user:secret@127.0.0.1:9/key'] } },
      ],
      ['DATABASE_URL', working(), { DATABASE_URL: 'postgresql://127.0.0.1:9/relay' }],
      ['TOUCHSTONE_SIGNER_KEYS', working(), { TOUCHSTONE_SIGNER_KEYS: '0x12' }],
      ['is given twice', working(), { TOUCHSTONE_SIGNER_KEYS: `${key},${key}` }],
      [`chmod -R go= ${open}`, { ...working(), database: { folder: open } }],
    ]
    const outcomes = await Promise.all(
      cases.map(async ([says, config, env]) => {
        const { exit, stderr } = await serve(config, env ? { env } : {})
        return { says, code: (await exit)[0], lines: (await stderr).trim().split('\n') }
      }),
    )
    taken.close()
    for (const { says, code, lines } of outcomes) {
      expect(code, says).to.equal(2)
      expect(lines, says).to.have.length(1)
      expect(lines[0]).to.include(says)
    }
  })
})
