import { SigningKey, hashMessage } from 'ethers'
import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check } from '../../conformance/index.ts'
import type { Report } from '../../conformance/lib/report-types.ts'
import { type ChainTruth, connectChain } from '../../conformance/lib/chain-truth.ts'
import { digestOf, packRecording, sealText, unpackRecording } from '../../conformance/lib/recording.ts'
import { renderJson } from '../../conformance/lib/report/files.ts'
import { run, verify } from '../../conformance/verify.ts'
import { rejudge } from '../../conformance/rejudge.ts'
import { startTestbed, type Testbed } from '../../testbed/testbed.ts'

/** Few clauses, since a report is verified two hundred times: reads, and calls that are executed. */
const only = [
  'relay.execute.post',
  'relay.execute.hash-of-transaction',
  'relay.execute.channel-order',
  'relay.quota.unit',
  'eth-rpc.eth_chainId.success',
  'eth-rpc.eth_getBalance.success',
].join()

/** Numbers from 0 to below a limit, the same ones for the same seed (mulberry32). */
function createRandom(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}

/** A string or number of a value of JSON, and how to change it. */
interface Leaf {
  readonly path: string
  readonly value: string | number
  set(value: string | number): void
}

function leavesOf(value: unknown, path = ''): Leaf[] {
  if (typeof value !== 'object' || value === null) return []
  const members = value as Record<string, unknown>
  return Object.entries(members).flatMap(([name, member]) => {
    const at = `${path}.${name}`
    if (typeof member !== 'string' && typeof member !== 'number') return leavesOf(member, at)
    return [{ path: at, value: member, set: (changed: string | number) => void (members[name] = changed) }]
  })
}

const isStatus = ({ path }: Leaf): boolean => /\.(status|verdict)$/.test(path)
const isHash = ({ value }: Leaf): boolean => typeof value === 'string' && /0x[0-9a-f]{64}(?![0-9a-f])/.test(value)
const isBytes = ({ value }: Leaf): boolean => typeof value === 'string' && value !== ''

const statuses = ['passed', 'failed', 'untestable', 'observed', 'succeeded', 'reverted']

type Random = (limit: number) => number

function other<Item>(items: readonly Item[], than: Item, random: Random): Item {
  const others = items.filter((item) => item !== than)
  return others[random(others.length)] ?? than
}

/** Changes a status to another one, a number by one, or one character of a text. */
function flip(leaf: Leaf, random: Random): void {
  const { value } = leaf
  if (typeof value === 'number') return leaf.set(value + 1)
  if (isStatus(leaf)) return leaf.set(other(statuses, value, random))
  const hash = isHash(leaf) ? /0x([0-9a-f]{64})(?![0-9a-f])/.exec(value) : null
  const at = hash ? hash.index + 2 + random(64) : random(value.length)
  const alphabet = hash ? [...'0123456789abcdef'] : [...'0123456789abcdefxyz']
  leaf.set(value.slice(0, at) + other(alphabet, value.charAt(at), random) + value.slice(at + 1))
}

/** The node, asked once for each question: two hundred verifications ask the same. */
function remembering(chain: ChainTruth): ChainTruth {
  const known = new Map<string, unknown>()
  const remember =
    <Answer>(name: string, ask: (method: string, params?: readonly unknown[]) => Promise<Answer>) =>
    (method: string, params: readonly unknown[] = []): Promise<Answer> => {
      const key = `${name} ${method} ${JSON.stringify(params)}`
      if (!known.has(key)) known.set(key, ask(method, params))
      return known.get(key) as Promise<Answer>
    }
  return { ...chain, send: remember('send', chain.send), attempt: remember('attempt', chain.attempt) }
}

describe('verify', () => {
  let testbed: Testbed
  let report: Report
  let chain: ChainTruth
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'verify-'))
    testbed = await startTestbed()
    report = await check({ relayUrl: testbed.relayUrl, fixture: testbed.fixture, only, record: true })
    chain = remembering(await connectChain(testbed.rpcUrl))
  })
  after(async () => {
    await testbed.close()
    await rm(folder, { recursive: true })
  })

  /** The report with a digest that fits, as anybody can make it. */
  const redigested = (forged: Report): Report => ({ ...forged, digest: digestOf(forged) })

  /** The report with digest and signature that fit, as whoever has the controller's key can make it. */
  function resealed(forged: Report): Report {
    const digest = digestOf(forged)
    const key = new SigningKey(testbed.fixture.controllers.full.privateKey)
    return { ...forged, digest, signature: key.sign(hashMessage(sealText(digest))).serialized }
  }

  /** Changes one leaf of what a report says in plain text. */
  function forgedReport(random: Random, isChosen: (leaf: Leaf) => boolean): { forged: Report; what: string } {
    const forged = structuredClone({ ...report, recording: '', digest: '', signature: '' })
    const leaves = leavesOf(forged).filter(isChosen)
    const leaf = leaves[random(leaves.length)]
    if (!leaf) throw new Error('the report has no such part')
    flip(leaf, random)
    return { forged: { ...forged, recording: report.recording ?? '' }, what: `${leaf.path} ${String(leaf.value)}` }
  }

  /** Changes one leaf of the record. */
  function forgedRecord(random: Random): { forged: Report; what: string } {
    const recording = unpackRecording(report.recording ?? '')
    const leaves = leavesOf(recording).filter((leaf) => isHash(leaf) || isBytes(leaf))
    const leaf = leaves[random(leaves.length)]
    if (!leaf) throw new Error('the record is empty')
    flip(leaf, random)
    return { forged: { ...report, recording: packRecording(recording) }, what: leaf.path }
  }

  it('finds nothing in a report that is true', async () => {
    const { findings, open, signer, signatures, chain: found } = await verify(report, chain)
    expect({ findings, open }).to.deep.equal({ findings: [], open: [] })
    expect(signer).to.equal(testbed.fixture.controllers.full.address)
    expect(signatures).to.be.greaterThan(2)
    expect(found?.transactions).to.be.greaterThan(1)
    expect(found?.signed).to.equal(found?.transactions)
    expect(found?.answers).to.be.greaterThan(10)
    expect(found?.notAsked).to.equal(0)
  })

  it('finds a report that is forged throughout, since nobody but the controller can sign it', async () => {
    const recording = unpackRecording(report.recording ?? '')
    const answered = Object.entries(recording.scopes)
      .flatMap(([scope, { events }]) => (scope.startsWith('eth-rpc.eth_chainId') ? events : []))
      .find(({ asked }) => asked.startsWith('POST'))
    const { received } = answered?.answer as { received: { text: string } }
    received.text = received.text.replace('"0x', '"0x4')
    const packed = packRecording(recording)
    // What the suite says of the forged answer, so that every part of the report fits every other part.
    const { report: judged } = await rejudge({ ...report, recording: packed })
    expect(judged.verdict).to.equal('nonconformant')
    const forged = redigested({
      ...judged,
      recording: packed,
      ...(report.signature ? { signature: report.signature } : {}),
    })
    const { findings } = await verify(forged, chain)
    expect(findings).to.have.length(1)
    expect(findings[0]).to.match(/^the report is signed by 0x\w+ and not by 0x\w+$/)
    // What verify cannot know: whoever has the key can sign anything that the chain does not contradict.
    expect((await verify(resealed(forged), chain)).findings).to.deep.equal([])
  })

  it('finds what the chain contradicts, also in a report that its controller signed', async () => {
    const recording = unpackRecording(report.recording ?? '')
    for (const { events } of Object.values(recording.scopes)) {
      for (const { asked, answer } of events) {
        if (!asked.startsWith('chain eth_getTransactionReceipt')) continue
        const { result } = (answer as { response: { result: { gasUsed: string } | null } }).response
        if (result) result.gasUsed = '0x5208'
      }
    }
    const packed = packRecording(recording)
    const { report: judged } = await rejudge({ ...report, recording: packed })
    const { findings } = await verify(resealed({ ...judged, recording: packed }), chain)
    for (const { hash, gasUsed } of report.transactions) {
      expect(findings).to.include(`the transaction ${hash} took ${gasUsed} gas; the report says 21000`)
      expect(
        findings.some((line) => line.startsWith(`the chain answers eth_getTransactionReceipt ["${hash}"]`)),
      ).to.equal(true)
    }
  })

  it('finds each of 80 forged statuses, bytes and hashes', async () => {
    const random = createRandom(20_261_100)
    const missed: string[] = []
    for (let count = 0; count < 80; count++) {
      const isChosen = [isStatus, isHash, isBytes][count % 3] ?? isBytes
      // The forger of three in four has the controller's key, so that the seal is whole and the content alone speaks.
      const { forged, what } = count % 4 === 0 ? forgedRecord(random) : forgedReport(random, isChosen)
      const sealed = count % 4 === 0 ? redigested(forged) : resealed(forged)
      const { findings } = await verify(sealed, chain)
      if (findings.length === 0) missed.push(what)
    }
    expect(missed).to.deep.equal([])
  })

  it('compares no words with a report of another version, and cannot tell what that version asked otherwise', async () => {
    const other: Report = { ...report, suite: { ...report.suite, version: '0.0.1' }, notes: ['in other words'] }
    const said = await verify(resealed(other), chain)
    expect([said.findings, said.open]).to.deep.equal([[], []])

    const [first, ...others] = report.clauses
    if (!first) throw new Error('the report has no clause')
    const judged = await verify(resealed({ ...other, clauses: [{ ...first, status: 'failed' }, ...others] }), chain)
    expect(judged.findings).to.deep.equal([`${first.id} was failed and is passed`])

    const recording = unpackRecording(report.recording ?? '')
    const scopes = Object.entries(recording.scopes).filter(([scope]) => !scope.startsWith('eth-rpc.eth_chainId'))
    const cut = packRecording({ ...recording, scopes: Object.fromEntries(scopes) })
    const asked = await verify(resealed({ ...other, recording: cut }), chain)
    expect(asked.findings).to.deep.equal([])
    expect(asked.open.join()).to.match(/^eth-rpc\.eth_chainId.*the record does not answer/)
    const path = await written('other.json', resealed({ ...other, recording: cut }))
    const { code, stdout } = await command(path, '--rpc-url', testbed.rpcUrl)
    expect(code).to.equal(2)
    expect(stdout).to.match(/^Nobody can tell whether the report is true \(it is of Touchstone 0\.0\.1\):/)
  })

  async function command(...args: readonly string[]) {
    const written = { stdout: '', stderr: '' }
    const stream = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) })
    const code = await run(args, { stdout: stream('stdout'), stderr: stream('stderr') })
    return { code, ...written }
  }

  async function written(name: string, one: Report): Promise<string> {
    const path = join(folder, name)
    await writeFile(path, renderJson(one))
    return path
  }

  it('ends with 0 for a report that is true, with 1 for one that is not, and says what it found', async () => {
    const node = ['--rpc-url', testbed.rpcUrl]
    const truth = await command(await written('true.json', report), ...node)
    expect(truth).to.include({ code: 0, stderr: '' })
    expect(truth.stdout).to.match(/^The report is true:\n {2}Signed by 0x/)

    const [first, ...others] = report.clauses
    if (!first) throw new Error('the report has no clause')
    const praised: Report = { ...report, clauses: [{ ...first, status: 'failed' }, ...others] }
    const lie = await command(await written('lie.json', praised), ...node)
    expect(lie.code).to.equal(1)
    expect(lie.stdout).to.include(`clauses.${first.id}.status: the report says failed; judged again it is passed`)
  })

  it('ends with 2, and a line, where nobody can tell', async () => {
    const path = await written('report.json', report)
    const plain: Report = { ...report }
    for (const name of ['recording', 'digest', 'signature'] as const) Reflect.deleteProperty(plain, name)
    const unrecorded = await written('unrecorded.json', plain)
    const node = ['--rpc-url', testbed.rpcUrl]
    const silent = ['--rpc-url', 'http://127.0.0.1:1']
    for (const args of [
      [],
      [path],
      ['none.json', ...node],
      [unrecorded, ...node],
      [path, ...silent],
      [path, '--rpc-url', 'node.example'],
      [path, '--what'],
    ]) {
      const { code, stderr } = await command(...args)
      expect(code).to.equal(2)
      expect(stderr).to.match(/^touchstone verify: .+\n$/)
    }
  })
})
