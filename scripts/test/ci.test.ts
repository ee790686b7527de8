import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { parse } from 'yaml'
import type { Report } from '../../conformance/index.ts'
import { unusedPort } from '../../testbed/unused-port.ts'
import { startTestbed, type Testbed } from '../../testbed/testbed.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFile(join(root, path), 'utf8')

interface Action {
  readonly inputs: Readonly<Record<string, { readonly required?: boolean; readonly default?: string }>>
  readonly outputs: Readonly<Record<string, { readonly value: string }>>
  readonly runs: { readonly using: string; readonly steps: readonly Step[] }
}

interface Step {
  readonly id?: string
  readonly uses?: string
  readonly with?: Readonly<Record<string, string>>
  readonly shell?: string
  readonly env?: Readonly<Record<string, string>>
  readonly run?: string
}

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>
}

type Shell = (
  script: string,
  env: Readonly<Record<string, string>>,
  cwd: string,
) => Promise<{ code: number; output: string }>

/** Runs a script as a runner does: bash that stops at the first failure, and this Node first on the PATH. */
const bash: Shell = (script, env, cwd) =>
  runShell('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], env, cwd)

/** What `sh` is here: dash on Debian. */
const sh: Shell = (script, env, cwd) => runShell('sh', ['-c', script], env, cwd)

function runShell(shell: string, args: readonly string[], env: Readonly<Record<string, string>>, cwd: string) {
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  const { promise, resolve } = Promise.withResolvers<{ code: number; output: string }>()
  const child = execFile(shell, args, { cwd, env: { ...process.env, PATH, ...env } }, (_error, stdout, stderr) =>
    resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
  )
  return promise
}

/** A fenced block of docs/ci.md, by the file that it names. */
async function blockOf(name: string): Promise<string> {
  const blocks = (await read('docs/ci.md')).matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)
  const found = [...blocks].find(([, file]) => file === name)
  if (found?.[2] === undefined) throw new Error(`docs/ci.md has no block ${name}`)
  return found[2]
}

describe('action.yml', () => {
  let action: Action
  let check: Step

  before(async () => {
    action = parse(await read('action.yml')) as Action
    check = action.runs.steps.find(({ id }) => id === 'check') ?? {}
  })

  it('uses each of its inputs once, as a variable and never in a script', () => {
    const steps = action.runs.steps
    const used = Object.values(check.env ?? {}).flatMap((value) => /inputs\.([\w-]+)/.exec(value)?.[1] ?? [])
    expect(used.sort()).to.deep.equal(Object.keys(action.inputs).sort())
    for (const { run, shell } of steps.filter((step) => step.run !== undefined)) {
      expect(run).not.to.include('${{')
      expect(shell).to.equal('bash')
    }
    for (const name of Object.keys(check.env ?? {})) expect(check.run, name).to.include(`$${name}`)
    for (const [name, { required, default: given }] of Object.entries(action.inputs)) {
      expect(required === true || given !== undefined, name).to.equal(true)
    }
  })

  it('hands on the outputs of a step that writes them', () => {
    for (const [name, { value }] of Object.entries(action.outputs)) {
      expect(value).to.equal(`\${{ steps.check.outputs.${name} }}`)
      expect(check.run).to.match(new RegExp(`echo "${name}=.*GITHUB_OUTPUT`))
    }
  })

  it('is used in docs/ci.md with inputs that it has', async () => {
    const { jobs } = parse(await blockOf('.github/workflows/relay.yml')) as Workflow
    const uses = Object.values(jobs).flatMap(({ steps }) => steps.filter((step) => step.uses?.includes('touchstone')))
    expect(uses).to.have.length(1)
    expect(Object.keys(action.inputs)).to.include.members(Object.keys(uses[0]?.with ?? {}))
  })

  describe('its script', () => {
    let testbed: Testbed
    let folder: string

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'touchstone-ci-'))
      testbed = await startTestbed()
      await writeFile(join(folder, 'my fixture.json'), JSON.stringify(testbed.fixture))
    })
    after(async () => {
      await testbed.close()
      await rm(folder, { recursive: true, force: true })
    })

    /** The step with these inputs, the others by default. */
    const runAction = (inputs: Readonly<Record<string, string>>) => {
      const env = Object.entries(check.env ?? {}).map(([name, value]) => {
        const input = /inputs\.([\w-]+)/.exec(value)?.[1]
        return [name, input === undefined ? root : (inputs[input] ?? action.inputs[input]?.default ?? '')]
      })
      const files = { GITHUB_STEP_SUMMARY: join(folder, 'summary.md'), GITHUB_OUTPUT: join(folder, 'output') }
      return bash(check.run ?? '', { ...(Object.fromEntries(env) as Record<string, string>), ...files }, folder)
    }

    it('checks with a fixture and more arguments, and writes reports and summary', async () => {
      const { code, output } = await runAction({
        url: testbed.relayUrl,
        fixture: 'my fixture.json',
        'report-folder': 'my reports',
        arguments: '--only\nrelay.quota.unit\n',
      })
      expect(code, output).to.equal(0)
      const report = JSON.parse(await readFile(join(folder, 'my reports/report.json'), 'utf8')) as Report
      expect(report.clauses.map(({ id, status }) => [id, status])).to.deep.equal([['relay.quota.unit', 'passed']])
      expect(await readFile(join(folder, 'my reports/junit.xml'), 'utf8')).to.include('<testsuite')
      expect(await readFile(join(folder, 'summary.md'), 'utf8')).to.include('relay.quota.unit')
      expect(await readFile(join(folder, 'output'), 'utf8')).to.equal('exit-code=0\n')
    })

    it('annotates what fails, and keeps the workflow from obeying what the relay answers', async () => {
      const { code, output } = await runAction({ url: `${testbed.relayUrl}/elsewhere` })
      expect(code, output).to.equal(2)
      const [, annotations = ''] =
        /^::stop-commands::(?<token>touchstone-\d+)\n[^]*\n::\k<token>::\n([^]*)$/.exec(output)?.slice(1) ?? []
      expect(annotations).to.match(/^::error title=No judgement::[^\n]*HTTP 404[^\n]*\n$/)
    })

    it('ends with the exit code of the suite', async () => {
      await rm(join(folder, 'output'), { force: true })
      const { code, output } = await runAction({ url: testbed.relayUrl, arguments: '--only\nrelay.quota.unit' })
      expect(code, output).to.equal(3)
      expect(await readFile(join(folder, 'output'), 'utf8')).to.equal('exit-code=3\n')
    })
  })
})

describe('the script of docs/ci.md', function () {
  this.timeout(120_000)
  let reports: string
  let ports: readonly [chain: number, relay: number]

  beforeEach(async () => {
    reports = await mkdtemp(join(tmpdir(), 'touchstone-ci-script-'))
    ports = [await unusedPort(), await unusedPort()]
  })
  afterEach(() => rm(reports, { recursive: true, force: true }))

  const runScript = async (change: (script: string) => string = (script) => script) => {
    const [chainPort, relayPort] = ports
    const script = (await blockOf('check-relay.sh'))
      .replaceAll('8545', `${chainPort}`)
      .replaceAll('3000', `${relayPort}`)
    return sh(change(script), { REPORTS: reports, TOUCHSTONE_LISTEN_PORT: String(relayPort) }, root)
  }
  const expectNothingLeft = async () => {
    for (const port of ports) {
      const left = await fetch(`http://127.0.0.1:${port}`).then(
        () => 'listening',
        () => 'gone',
      )
      expect(left, `port ${port}`).to.equal('gone')
    }
  }

  it('checks a relay on a local chain, and leaves nothing running', async () => {
    const { code, output } = await runScript()
    expect(code, output).to.equal(0)
    expect(await readFile(join(reports, 'report.md'), 'utf8')).to.include('onformant')
    await expectNothingLeft()
  })

  it('ends when the chain does not start, and says why', async () => {
    const { code, output } = await runScript((script) => script.replace('--network automine', '--network nowhere'))
    expect([code, output.includes('nowhere')], output).to.deep.equal([2, true])
    await expectNothingLeft()
  })

  it('does not check what was there before', async () => {
    const other = createServer((_request, response) => response.end('I am no relay')).listen(ports[1], '127.0.0.1')
    await once(other, 'listening')
    const { code, output } = await runScript()
    other.close()
    expect([code, output]).to.deep.equal([2, `port ${ports[1]} is taken\n`])
    await expectNothingLeft()
  })
})
