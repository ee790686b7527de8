import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { json } from 'node:stream/consumers'
import { delimiter, dirname, join } from 'node:path'
import { parse } from 'yaml'
import type { Report } from '../../conformance/lib/report-types.ts'
import { unusedPort } from '../../testbed/processes.ts'
import { startTestbed, type Testbed } from '../../testbed/testbed.ts'
import { skipWithout } from '../../testbed/test/support/skip.ts'

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
    const used = steps.flatMap(({ env }) =>
      Object.values(env ?? {}).flatMap((value) => /inputs\.([\w-]+)/.exec(value)?.[1] ?? []),
    )
    expect([...new Set(used)].sort()).to.deep.equal(Object.keys(action.inputs).sort())
    for (const { run, shell, env } of steps.filter((step) => step.run !== undefined)) {
      expect(run).not.to.include('${{')
      expect(shell).to.equal('bash')
      // GITHUB_TOKEN is for the program that the script calls.
      for (const name of Object.keys(env ?? {}))
        if (!name.startsWith('GITHUB_')) expect(run, name).to.include(`$${name}`)
    }
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

/** As much of GitHub's API as the comment needs: lists of one comment each, and what was written. */
async function serveGithub(comments: readonly { body: string; viewerDidAuthor: boolean }[], status = 200) {
  const written: { method: string; path: string; body: string; authorization: string }[] = []
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await json(request)) as { body?: string; variables?: { after: string | null } }
    response.setHeader('content-type', 'application/json')
    response.statusCode = status
    const { method = '', url: path = '', headers } = request
    if (path !== '/graphql') {
      written.push({ method, path, body: body.body ?? '', authorization: headers.authorization ?? '' })
      response.end('{}')
      return
    }
    const at = Number(body.variables?.after ?? 0)
    const nodes = comments.slice(at, at + 1).map((comment) => ({ ...comment, databaseId: 100 + at }))
    const pageInfo = { hasNextPage: at + 1 < comments.length, endCursor: String(at + 1) }
    response.end(JSON.stringify({ data: { repository: { pullRequest: { comments: { nodes, pageInfo } } } } }))
  }
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, written, [Symbol.asyncDispose]: async () => void server.close() }
}

describe('the comment of the action', () => {
  let folder: string
  let step: Step

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'touchstone-comment-'))
    const { runs } = parse(await read('action.yml')) as Action
    step = runs.steps.find(({ env }) => env?.['COMMENT'] !== undefined) ?? {}
    await writeFile(join(folder, 'report.md'), '# Conformant\n')
  })
  after(() => rm(folder, { recursive: true, force: true }))

  async function comment(github: { url: string }, event: object = { pull_request: { number: 7 } }) {
    await writeFile(join(folder, 'event.json'), JSON.stringify(event))
    const env = {
      ACTION_PATH: root,
      REPORTS: folder,
      COMMENT: 'Conformance of one',
      GITHUB_TOKEN: 'a-token',
      GITHUB_EVENT_PATH: join(folder, 'event.json'),
      GITHUB_REPOSITORY: 'owner/relay',
      GITHUB_API_URL: github.url,
      GITHUB_GRAPHQL_URL: `${github.url}/graphql`,
      GITHUB_SERVER_URL: 'https://github.example',
      GITHUB_RUN_ID: '42',
    }
    return bash(step.run ?? '', env, folder)
  }

  const mark = '<!-- touchstone: Conformance of one -->'
  const ours = { body: `${mark}\nold`, viewerDidAuthor: true }

  it('is written once, with the report and a link to the run', async () => {
    await using github = await serveGithub([{ body: 'Nice', viewerDidAuthor: false }])
    expect(await comment(github)).to.deep.equal({ code: 0, output: 'commented\n' })
    expect(github.written).to.deep.equal([
      {
        method: 'POST',
        path: '/repos/owner/relay/issues/7/comments',
        body: `${mark}\n[Conformance of one](https://github.example/owner/relay/actions/runs/42)\n\n# Conformant\n`,
        authorization: 'Bearer a-token',
      },
    ])
  })

  it('is updated from then on, and never that of somebody else or of another job', async () => {
    const others = [
      { body: `${mark}\nforged`, viewerDidAuthor: false },
      { body: '<!-- touchstone: Conformance of two -->', viewerDidAuthor: true },
    ]
    await using github = await serveGithub([...others, ours])
    expect(await comment(github)).to.deep.equal({ code: 0, output: 'updated the comment\n' })
    expect(github.written.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([
      'PATCH /repos/owner/relay/issues/comments/102',
    ])
  })

  it('holds as much of a long report as GitHub takes', async () => {
    await using github = await serveGithub([ours])
    await writeFile(join(folder, 'report.md'), 'a line of forty characters, and a break\n'.repeat(2000))
    await comment(github)
    await writeFile(join(folder, 'report.md'), '# Conformant\n')
    expect(github.written[0]?.body).to.have.length.within(59_000, 65_536)
    expect(github.written[0]?.body)
      .to.include('of which this is the beginning')
      .and.match(/and a break$/)
  })

  it('is no failure where there is no pull request, or no permission', async () => {
    await using github = await serveGithub([], 403)
    expect(await comment(github, {})).to.deep.include({ code: 0 })
    const { code, output } = await comment(github)
    expect(code).to.equal(0)
    expect(output).to.match(/^::warning title=No comment::.*HTTP 403.*pull-requests: write/)
    expect(github.written).to.deep.equal([])
  })
})

describe('the job of docs/ci.md for GitLab', () => {
  interface Job {
    readonly image: string
    readonly script: readonly string[]
    readonly variables: Readonly<Record<string, string>>
    readonly artifacts: { readonly paths: readonly string[]; readonly reports: { readonly junit: string } }
  }

  it('checks a relay under sh, and writes the reports that it keeps', async () => {
    const { conformance: job } = parse(await blockOf('.gitlab-ci.yml')) as { conformance: Job }
    expect(job.image).to.match(/^node:(22|24)$/)
    const folder = await mkdtemp(join(tmpdir(), 'touchstone-gitlab-'))
    const testbed = await startTestbed()
    try {
      await writeFile(join(folder, 'fixture.json'), JSON.stringify(testbed.fixture))
      await symlink(root, join(folder, 'touchstone'))
      // A runner ends a job with the first line that fails.
      const script = ['set -e', ...job.script].join('\n').replace('check ', 'check --only relay.quota.unit ')
      const { code, output } = await sh(script, { ...job.variables, RELAY_URL: testbed.relayUrl }, folder)
      expect(code, output).to.equal(0)
      expect(await readFile(join(folder, job.artifacts.reports.junit), 'utf8')).to.include('<testsuite')
      const [kept = ''] = job.artifacts.paths
      expect(await readdir(join(folder, kept))).to.have.members(['junit.xml', 'report.html', 'report.json'])
    } finally {
      await testbed.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
})

describe('the script of docs/ci.md', () => {
  let reports: string
  let ports: readonly [chain: number, relay: number]

  before(function () {
    skipWithout('curl', this)
  })
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
