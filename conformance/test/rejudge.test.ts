import { expect } from 'chai'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { check } from '../index.ts'
import type { Report } from '../lib/report-types.ts'
import { packRecording, type Recording, unpackRecording } from '../lib/recording.ts'
import { compareJudgements, rejudge, run } from '../rejudge.ts'
import { serve } from './support/serve.ts'

const reports = new URL('./reports/', import.meta.url)

async function stored(name: string): Promise<Report> {
  return JSON.parse(gunzipSync(await readFile(new URL(name, reports))).toString()) as Report
}

/** The report with another record. */
function alter(report: Report, change: (recording: Recording) => Recording): Report {
  return { ...report, recording: packRecording(change(unpackRecording(report.recording ?? ''))) }
}

/** A record in which the questions of some scopes have no answer. */
function without(isGone: (scope: string, asked: string) => boolean) {
  return (recording: Recording): Recording => {
    const scopes = Object.entries(recording.scopes).map(([scope, one]) => [
      scope,
      { ...one, events: one.events.filter(({ asked }) => !isGone(scope, asked)) },
    ])
    return { ...recording, scopes: Object.fromEntries(scopes) as Recording['scopes'] }
  }
}

async function sourcesOf(...folders: readonly string[]) {
  const files = folders.map(async (folder) => {
    const all = await readdir(new URL(folder, import.meta.url), { recursive: true, withFileTypes: true })
    return all.filter((entry) => entry.isFile())
  })
  const found = (await Promise.all(files)).flat()
  return Promise.all(
    found.map(async ({ name, parentPath }) => ({ name, text: await readFile(join(parentPath, name), 'utf8') })),
  )
}

describe('a recorded run, judged again', () => {
  // `node scripts/test/support/record-reports.ts` records them anew, where a check asks something new.
  it('gets the same verdict, and the same status of each check', async () => {
    const names = await readdir(reports)
    expect(names).to.have.length(3)
    for (const name of names) {
      const before = await stored(name)
      const again = await rejudge(before)
      expect(compareJudgements(before, again), name).to.deep.equal({ changed: [], open: [] })
      expect(again.report.verdict, name).to.equal(before.verdict)
      expect(again.report.transactions, name).to.deep.equal(before.transactions)
      expect(again.unasked, name).to.deep.equal([])
    }
  })

  it('ends where somebody interrupted it', async () => {
    await using server = await serve((_request, response) => {
      response.setHeader('content-type', 'application/json').end('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
    })
    const interrupted = new AbortController()
    const report = await check({
      ...{ relayUrl: server.url, only: 'eth-rpc.envelope', record: true, signal: interrupted.signal },
      progress: { checked: () => interrupted.abort() },
    })
    expect(report.clauses.flatMap(({ tests }) => tests)).to.have.length(1)
    const again = await rejudge(report)
    expect(compareJudgements(report, again)).to.deep.equal({ changed: [], open: [] })
    expect(again.report.notes).to.deep.equal(report.notes)
  })

  it('shows a judgement that the record does not bear out', async () => {
    const before = await stored('reference.json.gz')
    const [first, ...others] = before.clauses
    if (!first) throw new Error('the report has no clause')
    const praised: Report = { ...before, verdict: 'conformant', clauses: [{ ...first, status: 'failed' }, ...others] }
    const { changed } = compareJudgements(praised, await rejudge(before))
    expect(changed).to.deep.equal([
      `${first.id} was failed and is ${first.status}`,
      `the verdict was conformant and is ${before.verdict}`,
    ])
  })

  it('accuses nobody of what the record does not answer', async () => {
    const before = await stored('reference.json.gz')
    const { level, id } = { level: 'required', id: 'eth-rpc.eth_chainId.success' }
    const cut = alter(
      before,
      without((scope) => scope.startsWith(id)),
    )
    const again = await rejudge(cut)
    const { changed, open } = compareJudgements(cut, again)
    expect(changed).to.deep.equal([])
    expect(open.length).to.be.greaterThan(0)
    expect(open.every((line) => line.startsWith(`${id}: `))).to.equal(true)
    const clause = again.report.clauses.find((one) => one.id === id)
    expect(clause).to.include({ level, status: 'untestable' })
    expect(clause?.tests.map(({ reason }) => reason).join()).to.include('cannot be judged again')
    expect(again.report.clauses.filter(({ status }) => status === 'failed')).to.deep.equal([])
  })

  it('misses nothing: no check takes time, chance or answers past the record', async () => {
    const past =
      /Date\.now\(|performance\.now\(|Math\.random\(|createRandom\(|timers\/promises|node:crypto|undici|\bfetch\(/
    // The lock file is the work of one question of the record.
    const fuzz = { name: 'fuzz.ts', text: await readFile(new URL('../lib/fuzz.ts', import.meta.url), 'utf8') }
    const taken = [...(await sourcesOf('../suites', '../lib/relay', '../lib/eth-rpc')), fuzz].filter(
      ({ name, text }) => past.test(text) && name !== 'turns.ts',
    )
    expect(taken.map(({ name }) => name)).to.deep.equal([])
  })

  it('says so when nothing can be judged again', async () => {
    const cut = alter(
      await stored('reference.json.gz'),
      without((scope) => scope === 'run'),
    )
    const message = await rejudge(cut).then(String, (error: Error) => error.message)
    expect(message).to.match(/^the report cannot be judged again: the record does not answer/)
  })

  it('is recorded without keys and credentials; one that the target repeats makes the record useless, and that is said', async () => {
    const secret = 'correct-horse-battery-staple'
    await using server = await serve((_request, response) => {
      response.setHeader('content-type', 'application/json').end(`{"jsonrpc":"2.0","id":1,"result":"${secret}"}`)
    })
    const options = { relayUrl: server.url, only: 'eth-rpc.eth_gasPrice', record: true }
    const plain = await check(options)
    expect(compareJudgements(plain, await rejudge(plain))).to.deep.equal({ changed: [], open: [] })

    const report = await check({ ...options, headers: { 'x-token': secret } })
    expect(JSON.stringify({ ...report, recording: undefined })).to.not.include(secret)
    const message = await rejudge(report).then(String, (error: Error) => error.message)
    expect(message).to.include('secrets of the run')
  })
})

describe('the command rejudge', () => {
  let folder: string
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'rejudge-'))))
  after(() => rm(folder, { recursive: true }))

  async function rejudgeFile(name: string, report: Report, ...options: readonly string[]) {
    const path = join(folder, name)
    await writeFile(path, JSON.stringify(report))
    return command(path, ...options)
  }

  async function command(...args: readonly string[]) {
    const written = { stdout: '', stderr: '' }
    const stream = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) })
    const code = await run(args, { stdout: stream('stdout'), stderr: stream('stderr') })
    return { code, ...written }
  }

  it('ends with 0 for the same, 1 for another judgement, 2 for what cannot be judged again; and writes the report', async () => {
    const report = await stored('relay.quota.unit.json.gz')
    const json = join(folder, 'today.json')
    const same = await rejudgeFile('same.json', report, '--report', `json=${json}`)
    expect(same).to.include({ code: 0, stderr: '' })
    expect(same.stdout).to.match(/^The same: nonconformant, \d+ clauses/)
    expect(JSON.parse(await readFile(json, 'utf8'))).to.include({ verdict: 'nonconformant' })

    const praised = await rejudgeFile('praised.json', { ...report, verdict: 'conformant' })
    expect(praised.code).to.equal(1)
    expect(praised.stdout).to.include('the verdict was conformant and is nonconformant')

    const cut = alter(
      report,
      without((scope) => scope.startsWith('once ')),
    )
    const open = await rejudgeFile('cut.json', cut)
    expect(open.code).to.equal(2)
    expect(open.stdout).to.match(/^\d+ checks cannot be judged again/)
  })

  it('says in one line what is wrong', async () => {
    const unrecorded = { ...(await stored('relay.quota.unit.json.gz')), recording: undefined }
    const path = join(folder, 'unrecorded.json')
    await writeFile(path, JSON.stringify(unrecorded))
    const damaged = join(folder, 'damaged.json')
    await writeFile(damaged, JSON.stringify({ ...unrecorded, recording: 'AAAA' }))
    for (const args of [[], ['none.json'], ['--what'], [path], [damaged], [path, '--report', 'pdf=x']]) {
      const { code, stderr } = await command(...args)
      expect(code).to.equal(2)
      expect(stderr.trim().split('\n')).to.have.length(1)
      expect(stderr).to.match(/^touchstone rejudge: /)
    }
  })
})
