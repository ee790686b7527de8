import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { currentRequirements } from '../../specs/index.ts'
import { type CheckDependencies, run } from '../cli.ts'
import type { Report } from '../lib/report-types.ts'
import { sampleFixture } from './support/samples.ts'
import { serve } from './support/serve.ts'

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command with streams of its own. */
const check = (...args: readonly string[]): Promise<Ended> => checkWith({}, ...args)

async function checkWith(dependencies: CheckDependencies, ...args: readonly string[]): Promise<Ended> {
  const written = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) })
  const code = await run(args, dependencies, { stdout: stream('stdout'), stderr: stream('stderr') })
  return { code, ...written }
}

describe('the command check', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'check-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  const callIn = (body: string): { readonly id?: unknown; readonly method?: string } => {
    try {
      return Object(JSON.parse(body)) as { id?: unknown; method?: string }
    } catch {
      return {}
    }
  }

  /** Answers as a node of chain 5. It knows no other method. */
  const nodeOfChain5 = (answerAfterMs = () => 0) =>
    serve((_request, response, body) => {
      const { id = null, method } = callIn(body)
      const outcome = method === 'eth_chainId' ? { result: '0x5' } : { error: { code: -32601, message: 'unknown' } }
      const answer = JSON.stringify({ jsonrpc: '2.0', id, ...outcome })
      setTimeout(() => response.setHeader('content-type', 'application/json').end(answer), answerAfterMs())
    })

  it('ends with 2 and one line when it cannot judge', async () => {
    const fixture = join(folder, 'fixture.json')
    await writeFile(fixture, '{"chain":{}}')
    const cases = [
      ['http://127.0.0.1:1'],
      ['not a URL'],
      ['http://127.0.0.1:1', '--no-such-option'],
      ['http://127.0.0.1:1', '--edition', 'draft'],
      ['http://127.0.0.1:1', '--timeout-ms', 'soon'],
      ['http://127.0.0.1:1', '--fixture', fixture],
      ['http://127.0.0.1:1', '--fixture', join(folder, 'none.json')],
      ['http://127.0.0.1:1', '--only', 'relay.nothing'],
      ['http://127.0.0.1:1', '--requirements', '1999-01'],
      ['http://127.0.0.1:1', '--no-relay', '--no-eth-rpc'],
      ['http://127.0.0.1:1', '--report', 'pdf=out.pdf'],
      [],
    ]
    for (const args of cases) {
      const { code, stderr } = await check(...args)
      expect(code, args.join(' ')).to.equal(2)
      expect(stderr.trim().split('\n'), stderr).to.have.length(1)
    }
    expect((await check('http://127.0.0.1:1', '--record')).stderr).to.include('add --report json=<file>')
    for (const option of ['--timeout-ms', '--receipt-timeout-ms', '--linger-ms']) {
      const { stderr } = await check('http://127.0.0.1:1', option, '2147483648')
      expect(stderr, option).to.include('at most 2147483647 ms')
    }
  })

  it('asks nothing when the URL of the node is none', async () => {
    for (const rpcUrl of ['node.example', 'http://node.example:99999', 'ws://127.0.0.1:1', '']) {
      const { code, stderr } = await check('http://127.0.0.1:1', '--rpc-url', rpcUrl)
      expect(code, stderr).to.equal(2)
      expect(stderr).to.match(/^touchstone check: "[^\n]*" is no [^\n]+\n$/)
    }
  })

  it('starts no testbed when it cannot judge it', async () => {
    const startTestbed = () => Promise.reject(new Error('a testbed is started'))
    const cases: readonly (readonly [args: string[], message: string])[] = [
      [['--only', 'relay.nothing'], 'relay.nothing'],
      [['--only', 'relay.quota.unit,relay.quta.unit'], 'relay.quta.unit; did you mean relay.quota.unit?'],
      [['--requirements', '1999-01'], '1999-01'],
      [['--no-relay', '--no-eth-rpc'], 'nothing to judge'],
      [['--record'], '--report json=<file>'],
      [['--paging', 'by hand'], 'no way of paging'],
    ]
    for (const [args, message] of cases) {
      const { code, stderr } = await checkWith({ startTestbed }, ...args)
      expect(code).to.equal(2)
      expect(stderr.trim().split('\n')).to.have.length(1)
      expect(stderr).to.include(message)
    }
    const started = await checkWith({ startTestbed }).catch((thrown: unknown) => thrown)
    expect(started).to.have.property('message', 'a testbed is started')
  })

  it('ends with 0 when all that was asked for holds, 1 when not, 3 when it could not be tested', async () => {
    await using server = await nodeOfChain5()
    const { code, stdout } = await check(server.url, '--only', 'eth-rpc.eth_chainId.success', '--rpc-url', server.url)
    expect(code, stdout).to.equal(0)
    expect((await check(server.url, '--only', 'eth-rpc.eth_blockNumber')).code).to.equal(1)
    expect((await check(server.url, '--only', 'relay.quota.unit')).code).to.equal(3)
    // No required clause was selected, so the run judged none.
    expect((await check(server.url, '--only', 'eth-rpc.eth_chainId.result-schema')).code).to.equal(3)
  })

  it('says what a run would do and cost, and sends nothing', async () => {
    await using server = await nodeOfChain5()
    const { code, stdout } = await check(server.url, '--dry-run', '--no-eth-rpc')
    expect(code).to.equal(0)
    expect(stdout).to.match(/^Touchstone checks http.*\d+ checks\)\nThe run sends nothing that spends\.\n$/)
    expect(server.requests).to.deep.equal([])
    const fixture = join(folder, 'fixture.json')
    await writeFile(fixture, JSON.stringify(sampleFixture))
    const costly = await check(server.url, '--dry-run', '--fixture', fixture, '--max-transactions', '10')
    expect(costly.stdout).to.include('The run may cost the relay about 10 relay calls, 1.2 million gas.')
    expect((await check(server.url, '--dry-run', '--fixture', fixture, '--read-only')).stdout).to.include('nothing')
  })

  it('writes reports; one on standard output stands there alone', async () => {
    await using server = await nodeOfChain5()
    const file = join(folder, 'junit.xml')
    const args = ['--only', 'eth-rpc.eth_blockNumber', '--report', 'json=-', '--report', `junit=${file}`]
    const { stdout } = await check(server.url, ...args)
    const report = JSON.parse(stdout) as Report
    expect(report.verdict).to.equal('nonconformant')
    expect(report.suite.requirements).to.equal(currentRequirements)
    expect(report.target).to.deep.equal({ relayUrl: server.url, ethRpcUrl: server.url })
    expect(await readFile(file, 'utf8')).to.match(/^<\?xml[^]*<testsuite/)
  })

  it('expects the failures that it wrote down, and says when the list is stale', async () => {
    await using server = await nodeOfChain5()
    const file = join(folder, 'expected.yaml')
    const asked = [server.url, '--only', 'eth-rpc.eth_blockNumber']
    expect((await check(...asked, '--write-expected-failures', file)).code).to.equal(0)
    expect(await readFile(file, 'utf8')).to.include('id: eth-rpc.eth_blockNumber.success')
    expect((await check(...asked, '--expected-failures', file)).code).to.equal(0)

    await writeFile(file, '- { id: eth-rpc.eth_chainId.success, reason: was broken }')
    const stale = await check(server.url, '--only', 'eth-rpc.eth_chainId.success', '--expected-failures', file)
    expect(stale.code).to.equal(1)
    expect(stale.stdout).to.include('stale')
  })

  describe('what a person sees', () => {
    it('is failures last, the required ones after the others, then their ids and the line that checks them again', async () => {
      await using server = await nodeOfChain5()
      const { stdout } = await check(server.url, '--no-relay', '--timeout-ms', '9000')
      const at = (text: string) => stdout.indexOf(text)
      expect(at('Recommendations not met')).to.be.greaterThan(at('Could not be tested'))
      expect(at('Failed, required')).to.be.greaterThan(at('Recommendations not met'))
      expect(at('\nFailed\n')).to.be.greaterThan(at('Failed, required'))
      const [, again = ''] = /again: npx touchstone check (.*)/.exec(stdout) ?? []
      expect(again).to.match(/^http:\S+ --no-relay --timeout-ms 9000 --only eth-rpc\.\S+,eth-rpc\.\S+$/)
      const secret = await check(`${server.url}?key=s3cr3t`, '--no-relay', '--only', 'eth-rpc.eth_gasPrice', '--quiet')
      expect(secret.stdout)
        .to.match(/again: .*key=redacted/)
        .and.not.include('s3cr3t')
      expect((await check(...again.split(' '))).stdout).to.match(
        /Not conformant: .*, \d of 4 selected required clauses/,
      )
    })

    it('is no observation unless it is asked for, and with --quiet failures and verdict alone', async () => {
      await using server = await nodeOfChain5()
      const only = ['--only', 'eth-rpc.auth', '--only', 'eth-rpc.eth_gasPrice.success']
      const usual = await check(server.url, ...only)
      expect(usual.stdout)
        .to.include('--verbose and the reports show them')
        .and.not.include('no credential is asked for')
      expect((await check(server.url, ...only, '--verbose')).stdout).to.include('no credential is asked for')
      const quiet = (await check(server.url, ...only, '--quiet')).stdout
      expect(quiet.trimStart()).to.match(/^Failed, required/)
      expect(quiet).to.include('Not conformant').and.not.include('Observations')
    })
  })

  it('ends with --bail at the first required clause that fails, and says what was not checked', async () => {
    await using server = await nodeOfChain5()
    const { code, stdout } = await check(server.url, '--no-relay', '--bail')
    expect(code).to.equal(1)
    expect(stdout).to.match(/--bail: the run ended with eth-rpc\.\S+; \d{2,} checks were not made/)
    const whole = await check(server.url, '--no-relay')
    const failed = (text: string) => Number(/required +\d+ passed +(\d+) failed/.exec(text)?.[1])
    expect(failed(stdout)).to.be.greaterThan(0).and.lessThan(failed(whole.stdout))
  })

  it('sends headers of the run with every request, and shows their values nowhere, not even where they are echoed', async () => {
    const seen: (string | undefined)[] = []
    await using server = await serve((request, response, body) => {
      seen.push(request.headers.authorization)
      const { id = null } = callIn(body)
      const error = { code: -32601, message: `you are ${request.headers.authorization}` }
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, error }))
    })
    const file = join(folder, 'report.json')
    const { stdout } = await check(
      server.url,
      ...['--no-relay', '--only', 'eth-rpc.eth_chainId'],
      ...['--header', 'Authorization: Bearer s3cr3t-t0ken', '--report', `json=${file}`],
    )
    expect(new Set(seen)).to.deep.equal(new Set(['Bearer s3cr3t-t0ken']))
    const report = await readFile(file, 'utf8')
    expect(report).to.include('you are Bearer (redacted)').and.include('"authorization": "(redacted)"')
    for (const text of [stdout, report]) expect(text).to.not.include('s3cr3t-t0ken')
  })

  it('sends the user in a URL to whom the URL is of, as a header, and shows it nowhere', async () => {
    const seen = new Map<string | undefined, Set<string | undefined>>()
    await using server = await serve((request, response, body) => {
      const { url, headers } = request
      seen.set(url, (seen.get(url) ?? new Set()).add(headers.authorization))
      const user = Buffer.from(headers.authorization?.slice('Basic '.length) ?? '', 'base64').toString()
      const { id = null } = callIn(body)
      const error = { code: -32601, message: `you are ${headers.authorization}, ${user}` }
      const answer = url === '/node' ? { jsonrpc: '2.0', id, result: '0x5' } : { jsonrpc: '2.0', id, error }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
    })
    const as = (user: string) => server.url.replace('//', `//${user}@`)
    const file = join(folder, 'report.json')
    const { stdout } = await check(
      as('somebody:p%40ssw0rd-ü1'),
      ...['--no-relay', '--only', 'eth-rpc.eth_chainId', '--rpc-url', `${as('another:p%40ssw0rd-2')}/node`],
      ...['--report', `json=${file}`],
    )
    const basic = (user: string) => `Basic ${Buffer.from(user).toString('base64')}`
    expect(seen).to.deep.equal(
      new Map([
        ['/node', new Set([basic('another:p@ssw0rd-2')])],
        ['/api/eth-rpc', new Set([basic('somebody:p@ssw0rd-ü1')])],
      ]),
    )
    const shown = `${stdout}${await readFile(file, 'utf8')}`
    expect(shown).to.include('you are Basic (redacted)')
    expect(shown).to.not.match(/ssw0rd/)
    expect(shown).to.not.include(basic('somebody:p@ssw0rd-ü1').slice('Basic '.length))
    const two = await check(as('a:b'), '--eth-rpc-url', server.url)
    expect(two.code).to.equal(2)
    expect(two.stderr).to.include('different users').and.include('--header')
  })

  it('writes no private key of the fixture into a report, though the target echoes it', async () => {
    await using server = await serve((_request, response, body) => {
      const { id = null } = callIn(body)
      const error = { code: -32601, message: `key ${sampleFixture.controllers.full.privateKey.toUpperCase()}` }
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, error }))
    })
    const [fixture, file] = [join(folder, 'fixture.json'), join(folder, 'report.json')]
    await writeFile(fixture, JSON.stringify(sampleFixture))
    const args = ['--no-relay', '--only', 'eth-rpc.eth_gasPrice.success', '--report', `json=${file}`]
    await check(server.url, '--fixture', fixture, ...args)
    const report = await readFile(file, 'utf8')
    expect(report).to.include('(redacted)')
    expect(report.toLowerCase()).to.not.include(sampleFixture.controllers.full.privateKey.slice(2).toLowerCase())
  })

  it('says before the run that a report cannot be written, and leaves no empty file', async () => {
    await using server = await nodeOfChain5()
    for (const path of [folder, join(folder, 'none', 'report.json')]) {
      const { code, stderr } = await check(server.url, '--report', `json=${path}`)
      expect(code).to.equal(2)
      expect(stderr).to.match(/^touchstone check: the report .* cannot be written \(\w+\)\n$/)
    }
    expect(server.requests).to.deep.equal([])
    const dry = join(folder, 'report.json')
    expect((await check(server.url, '--dry-run', '--report', `json=${dry}`)).code).to.equal(0)
    expect(await readFile(dry).catch(() => 'none')).to.equal('none')
  })

  it('ends when it is interrupted, with the reports of what was found by then', async () => {
    const file = join(folder, 'report.json')
    const script = join(import.meta.dirname, '../../scripts/touchstone.ts')
    const children: ChildProcess[] = []
    let requests = 0
    await using server = await nodeOfChain5(() => {
      if (++requests !== 20) return 0
      // A terminal sends the signal to the process and to the launcher, which forwards it a little later. The command
      // counts one Ctrl-C.
      children[0]?.kill('SIGINT')
      setTimeout(() => children[0]?.kill('SIGINT'), 100)
      return 300
    })
    const args = ['check', server.url, '--no-relay', '--quiet', '--report', `json=${file}`]
    const child = spawn(process.execPath, [script, ...args], { stdio: 'ignore' })
    children.push(child)
    const [code] = (await once(child, 'exit')) as [number | null]
    expect(code).to.be.oneOf([1, 3])
    const { notes, clauses } = JSON.parse(await readFile(file, 'utf8')) as Report
    expect(notes.join()).to.match(/the run was interrupted; \d+ checks were not made/)
    expect(clauses.some(({ tests }) => tests.length > 0)).to.equal(true)
  })

  it('reads its options from a file; those of the command line replace them', async () => {
    await using server = await nodeOfChain5()
    const file = join(folder, 'check.yaml')
    const options = {
      'relay-url': server.url,
      only: ['eth-rpc.eth_chainId.success'],
      'rpc-url': server.url,
      bail: false,
    }
    await writeFile(file, JSON.stringify(options))
    const { code, stdout } = await check('--config', file, '--report', 'json=-')
    const ids = (text: string) => (JSON.parse(text) as Report).clauses.map(({ id }) => id)
    expect(code).to.equal(0)
    expect(ids(stdout)).to.deep.equal(['eth-rpc.eth_chainId.success'])
    const other = await check('--config', file, '--only', 'eth-rpc.eth_blockNumber.success', '--report', 'json=-')
    expect(ids(other.stdout)).to.deep.equal(['eth-rpc.eth_blockNumber.success'])
  })

  it('says in one line what is wrong in a file of options', async () => {
    const file = join(folder, 'check.yaml')
    const faults = [
      [{ fixtur: 'a' }, 'Did you mean --fixture?'],
      [{ edition: 'draft' }, 'Allowed choices are documents, lip'],
      [{ 'read-only': 'yes' }, 'belongs to an option that takes no value'],
      [{ only: { a: [] } }, 'neither a value'],
      [{ 'relay-url': 3 }, 'relay-url is no text'],
      [[], 'a map of options is expected'],
    ] as const
    for (const [content, told] of faults) {
      await writeFile(file, JSON.stringify(content))
      const { code, stderr } = await check('http://127.0.0.1:1', '--config', file)
      expect(code, told).to.equal(2)
      expect(stderr.trim().split('\n')).to.have.length(1)
      expect(stderr).to.contain(file).and.to.contain(told)
    }
    const none = await check('--config', join(folder, 'none.yaml'))
    expect(none).to.include({ code: 2 })
    expect(none.stderr).to.match(/^touchstone check: the options .* cannot be read \(ENOENT\)\n$/)
  })
})
