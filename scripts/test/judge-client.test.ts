import { expect } from 'chai'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { JsonRpcProvider } from 'ethers'
import { createPublicClient, http } from 'viem'
import { Web3 } from 'web3'
import { clauses, type Clause, type ClauseId, type ClauseLevel } from '../../specs/index.ts'
import { type Given, judgeClient } from '../../conformance/clients/judge.ts'
import { lawfulClients } from '../../conformance/clients/lawful.ts'
import { clientMutants } from '../../conformance/clients/mutants.ts'
import { createPlainClient, type PlainClient } from '../../conformance/clients/plain-client.ts'
import type { Step } from '../../conformance/clients/recording.ts'
import { UsageError } from '../../conformance/index.ts'
import type { CheckStatus, Edition, Report } from '../../conformance/lib/report-types.ts'
import { startTestbed, type Testbed } from '../../testbed/testbed.ts'
import { publicRequests } from './support/public-requests.ts'

const withStatus = ({ clauses: found }: Report, status: CheckStatus): string[] =>
  found.filter((clause) => clause.status === status).map(({ id }) => id)

const root = path.join(import.meta.dirname, '../..')

const commandLine = [path.join(root, 'scripts/touchstone.ts'), 'judge-client']

const runCommand = (...args: string[]): Promise<{ stdout: string; stderr: string; code?: number }> =>
  promisify(execFile)(process.execPath, [...commandLine, ...args], { cwd: root })

/** What is wrong, with the reasons, for the message of a test that fails. */
const accusations = ({ clauses: found }: Report): string[] =>
  found.flatMap(({ id, tests }) =>
    tests.flatMap(({ error }) => (error ? [`${id}: ${error.message} (${error.actual})`] : [])),
  )

describe('judge-client', () => {
  let testbed: Testbed

  before(async () => {
    testbed = await startTestbed()
  })
  after(() => testbed.close())

  function judge(
    steps: readonly Step[],
    act: (given: Given) => Promise<unknown>,
    edition: Edition = 'documents',
  ): Promise<Report> {
    const { relayUrl: serverUrl, fixture } = testbed
    const options = { serverUrl, fixture, steps, client: 'test', timeoutMs: 10_000, edition }
    return judgeClient(options, async (given) => void (await act(given)))
  }

  for (const { clause, fault, also = [], provoked = [], act } of clientMutants) {
    it(`catches by ${clause}: ${fault}`, async () => {
      const report = await judge(provoked, async (given) => act(await createPlainClient(given)))
      expect(accusations(report).join('\n')).to.include(`${clause}: `)
      expect(
        withStatus(report, 'failed').filter((id) => id !== clause && !also.includes(id as ClauseId)),
      ).to.deep.equal([])
    })
  }

  for (const { id, clauses: named, provoked = [], act } of lawfulClients) {
    it(`spares ${id}`, async () => {
      const report = await judge(provoked, async (given) => act(await createPlainClient(given)))
      expect(accusations(report)).to.deep.equal([])
      expect(report.traffic.requests).to.be.above(0)
      expect(withStatus(report, 'passed').filter((clause) => named.includes(clause as ClauseId))).not.to.be.empty
    })
  }

  describe('judges each request of public clients', () => {
    for (const { form, send, wrong } of publicRequests) {
      it(`${form}: ${wrong.join(', ') || 'nothing wrong'}`, async () => {
        const report = await judge([], async (given) => send(await createPlainClient(given)))
        expect(report.traffic.requests).to.equal(1)
        expect(withStatus(report, 'failed'), accusations(report).join()).to.deep.equal(wrong)
      })
    }
  })

  describe('spares libraries as they are', () => {
    const libraries: Readonly<Record<string, (url: string, address: `0x${string}`) => Promise<unknown>>> = {
      async ethers(url, address) {
        const provider = new JsonRpcProvider(url)
        await Promise.all([provider.getBlockNumber(), provider.getBalance(address), provider.getLogs({ address })])
        provider.destroy()
      },
      async viem(url, address) {
        const client = createPublicClient({ transport: http(url) })
        await Promise.all([client.getBlockNumber(), client.getBalance({ address }), client.getLogs({ address })])
        await client.getTransactionReceipt({ hash: `0x${'1'.repeat(64)}` }).catch(() => undefined)
      },
      async web3(url, address) {
        const { eth } = new Web3(url)
        await Promise.all([eth.getBlockNumber(), eth.getBalance(address), eth.getPastLogs({ address })])
      },
      // A browser asks whether it may send (CORS), and a health check looks at the root.
      async browser(url) {
        await fetch(url, { method: 'OPTIONS', headers: { origin: 'https://dapp.example' } })
        await fetch(new URL('/', url))
        await fetch(new URL('/quota', url))
        await fetch(url, { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}' })
      },
    }
    for (const [name, use] of Object.entries(libraries)) {
      it(name, async () => {
        const report = await judge([], ({ relayUrl, fixture }) =>
          use(`${relayUrl}/api/eth-rpc`, fixture.profile.address as `0x${string}`),
        )
        expect(accusations(report)).to.deep.equal([])
        expect(withStatus(report, 'passed')).to.include('client.eth-rpc.endpoint')
      })
    }
  })

  it('judges by the edition', async () => {
    const text = publicRequests.find(({ form }) => form.includes('personal_sign of the text'))
    const old = publicRequests.find(({ form }) => form.includes('200 seconds'))
    const failed = async (edition: Edition, send?: (client: PlainClient) => Promise<unknown>) =>
      withStatus(await judge([], async (given) => send?.(await createPlainClient(given)), edition), 'failed')
    expect(await failed('lip', old?.send)).to.deep.equal([])
    expect(await failed('lukso-2026-02', text?.send)).to.deep.equal(['client.quota.post'])
    expect(await failed('lukso-2026-02', (client) => client.quota())).to.deep.equal([
      'client.quota.post',
      'client.quota.hash',
    ])
  })

  it('judges nobody when the relay behind does not answer', async () => {
    const { fixture } = testbed
    const options = { serverUrl: 'http://127.0.0.1:1', fixture, steps: [], client: 'test', timeoutMs: 10_000 }
    const judging = judgeClient(options, async (given) => void (await (await createPlainClient(given)).execute()))
    expect(await judging.catch((error: unknown) => error)).to.be.instanceOf(UsageError)
  })

  it('shows no private key', async () => {
    const { privateKey } = testbed.fixture.controllers.full
    const report = await judge([], async (given) => (await createPlainClient(given)).quota({ privateKey }))
    expect(withStatus(report, 'failed')).to.deep.equal(['client.auth.no-key'])
    expect(JSON.stringify(report)).not.to.include(privateKey.slice(2))
  })

  it('runs the client of its page, and finds nothing wrong', async () => {
    const folder = await mkdtemp(path.join(root, 'node_modules/.client-'))
    try {
      const page = await readFile(path.join(root, 'docs/judge-client.md'), 'utf8')
      const [, name = '', code = ''] = /^```js (\S+)\n([^]*?)^```$/m.exec(page) ?? []
      const own = pathToFileURL(path.join(root, 'client/index.ts')).href
      const program = path.join(folder, name)
      await writeFile(program, code.replace("'touchstone/client'", `'${own}'`))
      const [, options = ''] = /npx touchstone judge-client (--only \S+) -- node my-client.mjs/.exec(page) ?? []
      const file = (format: string): string => path.join(folder, `report.${format}`)
      const reports = ['json', 'html', 'junit'].flatMap((format) => ['--report', `${format}=${file(format)}`])
      const { stdout } = await runCommand(...options.split(' '), ...reports, '--', process.execPath, program)
      expect(stdout).to.include("unit: 'gas'").and.to.include('Passed: ')
      const report = JSON.parse(await readFile(file('json'), 'utf8')) as Report
      expect([...withStatus(report, 'failed'), ...withStatus(report, 'untestable')]).to.deep.equal([])
      expect(report.verdict).to.equal('passed')
      for (const format of ['html', 'junit'])
        expect(await readFile(file(format), 'utf8')).to.include('client.execute.nonce')
      const row = /^\| `touchstone\/client` .*$/m.exec(await readFile(path.join(root, 'README.md'), 'utf8'))?.[0] ?? ''
      const { required, recommended } = report.summary
      const of = (passed: number): string => `| ${passed} of ${passed} `
      expect(row.replaceAll(/ +/g, ' ')).to.include(`| passed ${of(required.passed)}${of(recommended.passed)}`)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('counts the clauses of the reference server in README.md', async () => {
    const row = /^\| the reference server .*$/m.exec(await readFile(path.join(root, 'README.md'), 'utf8'))?.[0] ?? ''
    // `check` sends random requests with --fuzz alone.
    const isJudged = (clause: Clause): boolean => clause.document !== 'client' && !clause.needs.includes('fuzz')
    const count = (level: ClauseLevel): number =>
      Object.values(clauses).filter((clause) => isJudged(clause) && clause.level === level).length
    const of = (all: number): string => `| ${all} of ${all} `
    expect(row.replaceAll(/ +/g, ' ')).to.include(`| conformant ${of(count('required'))}${of(count('recommended'))}`)
  })

  it('says in one line what is wrong with its arguments', async () => {
    const refused = async (...args: string[]) => {
      const { code, stderr } = await runCommand(...args).catch((error: { code: number; stderr: string }) => ({
        ...error,
      }))
      return `${code} ${stderr}`
    }
    const [none, lone, step, file] = await Promise.all([
      refused(),
      refused('--relay-url', 'http://127.0.0.1:1', '--', 'node'),
      refused('--provoke', 'late', '--', 'node'),
      refused('--relay-url', 'http://127.0.0.1:1', '--fixture', 'none.json', '--', 'node'),
    ])
    expect(none).to.match(/^2 error: missing required argument 'command'\n$/)
    expect(lone).to.match(/^2 touchstone judge-client: --relay-url needs --fixture: .*\n$/)
    expect(step).to.match(/^2 error: .*'late' is invalid\. none, or some of served, lost, .*\n$/)
    expect(file).to.match(/^2 touchstone judge-client: the fixture none\.json cannot be read \(ENOENT\)\n$/)
  })

  it('ends a command that does not end, and says so', async () => {
    const fixtureFile = path.join(await mkdtemp(path.join(tmpdir(), 'touchstone-')), 'fixture.json')
    await writeFile(fixtureFile, JSON.stringify(testbed.fixture))
    const where = ['--relay-url', testbed.relayUrl, '--fixture', fixtureFile]
    const run = (...rest: string[]) =>
      runCommand(...where, ...rest).catch((error: { code: number; stdout: string }) => error)
    const [endless, missing] = await Promise.all([
      run('--timeout-ms', '300', '--', process.execPath, '-e', 'setInterval(() => {}, 1000)'),
      run('--', '/no/such/command'),
    ])
    expect(endless).to.include({ code: 3 })
    expect(endless.stdout).to.include('note: the command was ended after 300 ms')
    expect(missing).to.include({ code: 2 })

    const args = [
      ...commandLine,
      ...where,
      '--',
      process.execPath,
      '-e',
      'console.log("begun"); setInterval(() => {}, 1000)',
    ]
    const interrupted = spawn(process.execPath, args, { cwd: root })
    const printed: string[] = []
    interrupted.stdout.setEncoding('utf8').on('data', (text: string) => printed.push(text))
    await once(interrupted.stdout, 'data')
    interrupted.kill('SIGINT')
    const [code] = (await once(interrupted, 'close')) as [number]
    expect(code).to.equal(3)
    expect(printed.join('')).to.include('note: the run was interrupted')
    await rm(path.dirname(fixtureFile), { recursive: true })
  })

  it('has a mutant for every clause with a verdict', () => {
    const judged = (Object.keys(clauses) as ClauseId[]).filter(
      (id) => clauses[id].document === 'client' && clauses[id].level !== 'unspecified',
    )
    expect([...new Set(clientMutants.map(({ clause }) => clause))].sort()).to.deep.equal(judged.sort())
  })

  it('passes nothing of a client that sends nothing', async () => {
    const report = await judge([], async () => undefined)
    expect(withStatus(report, 'untestable')).to.have.length(report.clauses.length)
    expect(report.verdict).to.equal('partial')
  })
})
