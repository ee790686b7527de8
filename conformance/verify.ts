import { hashMessage, recoverAddress, Signature } from 'ethers'
import { packageVersion } from '../specs/index.ts'
import { type ChainComparison, compareWithChain } from './lib/chain-comparison.ts'
import { type ChainTruth, connectChain } from './lib/chain-truth.ts'
import type { Fixture } from './lib/fixture.ts'
import { showValue, Untestable, UsageError } from './lib/outcome.ts'
import { digestOf, type Recording, sealText, unpackRecording } from './lib/recording.ts'
import type { Report } from './lib/report-types.ts'
import { lineList } from './lib/report/escape.ts'
import { readReport } from './lib/report/files.ts'
import { type LoadedSuite, loadSuitesOf } from './lib/suites.ts'
import { parseHttpUrl } from './lib/target.ts'
import { allClauses } from './lib/verdict.ts'
import { compareJudgements, rejudge, suitesOf } from './rejudge.ts'
import { runReportCommand, type Streams } from './report-command.ts'

const usage = `Usage: touchstone verify <report.json> --rpc-url <node> [--suite <package>]

Says whether a recorded report is true: looks at its digest and its signature, judges its record again, recovers each signature
of the run, and asks the chain for each transaction that the run caused and for each answer of the chain in the record. Sends
nothing to the relay. --suite names a suite of somebody else that the run had: a package, or a path that begins with . or /; repeatable.

Examples:
  touchstone check https://relay.example --fixture fixture.json --record --report json=report.json
  touchstone verify report.json --rpc-url https://node.example

Exit codes:
  0  the report is true
  1  the report is not true
  2  nobody can tell: wrong usage, a report without a record or of a version that asked otherwise, a node that does not answer
`

/** What agrees, in lines. */
function agreements(clauses: number, { signer, signatures, chain }: Verification): string {
  const lines = [
    signer === undefined
      ? 'Nobody signed it: the run had no fixture.'
      : `Signed by ${signer}, a controller of the run.`,
    `${clauses} clauses are judged alike again, and ${signatures} signatures are by whom the record names.`,
    ...(chain
      ? [
          `${chain.transactions} transactions and ${chain.answers} answers are those of the chain; ${chain.signed} of the transactions carry a signature of ${signer ?? 'nobody'}.`,
        ]
      : ['The run asked no chain.']),
    ...(chain && chain.notAsked > 0
      ? [`The node no longer has ${chain.notAsked} of the states that the run saw.`]
      : []),
  ]
  return lines.map((line) => `  ${line}\n`).join('')
}

async function verdictOn(
  path: string,
  rpcUrl: string | undefined,
  sources: readonly string[],
): Promise<{ text: string; code: 0 | 1 | 2 }> {
  const report = await readReport(path)
  if (report.chain && rpcUrl === undefined) {
    throw new UsageError(`the run asked chain ${report.chain.chainId}: name a node of it with --rpc-url`)
  }
  if (rpcUrl !== undefined) parseHttpUrl(rpcUrl)
  const suites = await loadSuitesOf(sources, process.cwd())
  const verification = await verify(report, rpcUrl === undefined ? undefined : await connectChain(rpcUrl), suites)
  const { findings, open } = verification
  if (findings.length > 0) return { text: `The report is not true:\n${lineList(findings)}`, code: 1 }
  if (open.length > 0) {
    const by = `it is of Touchstone ${report.suite.version}`
    return { text: `Nobody can tell whether the report is true (${by}):\n${lineList(open)}`, code: 2 }
  }
  return { text: `The report is true:\n${agreements(allClauses(report).length, verification)}`, code: 0 }
}

/**
 * The command `verify`.
 *
 * @param argv the arguments behind the word: a JSON report of `check --record`, and `--rpc-url`
 * @returns the exit code: 0 true, 1 not true, 2 nobody can tell
 */
export function run(argv: readonly string[], streams: Streams = process): Promise<number> {
  return runReportCommand(
    {
      word: 'verify',
      usage,
      options: { 'rpc-url': { type: 'string' }, suite: { type: 'string', multiple: true } },
      names: ['one report', 1],
      work: async ([path = ''], values, stdout) => {
        const { text, code } = await verdictOn(path, values['rpc-url'], values.suite ?? [])
        stdout.write(text)
        return code
      },
    },
    argv,
    streams,
  )
}

/** What was compared, and what was found to be untrue. */
interface Verification {
  /** One line for each part of the report that is not true; empty: nothing speaks against it. */
  readonly findings: readonly string[]
  /** One line for each check that this version cannot judge again. */
  readonly open: readonly string[]
  /** The address that signed the report; undefined: nobody, since the run had no fixture. */
  readonly signer: string | undefined
  /** How many signatures the record has, of requests to the target. */
  readonly signatures: number
  /** Undefined: the run asked no chain, or the report was found untrue before. */
  readonly chain: ChainComparison | undefined
}

/**
 * Says whether a recorded report is true, as far as anybody can tell afterwards: its seal, its signatures, its judgements
 * (the record is judged again, and everything else in the report must come out of that), and what the chain shows of it.
 *
 * @param chain a node of the chain of the run; undefined where the run asked none
 * @param suites those of others that the run had
 * @throws UsageError when the report has no record, a suite is missing or of another version, or the chain is another one;
 * Untestable when the node does not answer
 */
export async function verify(
  report: Report,
  chain: ChainTruth | undefined,
  suites: readonly LoadedSuite[] = [],
): Promise<Verification> {
  const untrue = { open: [], signer: undefined, signatures: 0, chain: undefined }
  if (report.recording === undefined) {
    if (report.digest !== undefined) return { ...untrue, findings: ['the record of the run is missing'] }
    throw new UsageError(
      'the run was not recorded; check --record --report json=<file> writes a report that can be verified',
    )
  }
  requireSameVersions(report, suitesOf(report, suites))
  let recording: Recording
  try {
    recording = unpackRecording(report.recording)
  } catch (error) {
    return { ...untrue, findings: [(error as Error).message] }
  }
  const signer = (recording.options['fixture'] as Fixture | undefined)?.controllers?.full?.address
  const { open, findings } = await judgedAgain(report, suites)
  const plain = [...brokenSeal(report, signer), ...wrongSignatures(recording), ...findings]
  const own = recording.signatures.flatMap(([address, , signature]) => (address === signer ? [signature] : []))
  const compared = chain && (await askChain(() => compareWithChain(report, recording, own, chain), plain.length > 0))
  return {
    findings: [...plain, ...(compared?.findings ?? [])],
    open,
    signer,
    signatures: recording.signatures.length,
    chain: compared,
  }
}

/** What the chain says. Of a report that is known to be untrue, a statement may be one that nobody can ask a node about. */
async function askChain(ask: () => Promise<ChainComparison>, isUntrue: boolean): Promise<ChainComparison | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (isUntrue && (error instanceof UsageError || error instanceof Untestable)) return undefined
    throw error
  }
}

/** Whether the report is still the one that was sealed. */
function brokenSeal(report: Report, signer: string | undefined): string[] {
  const digest = digestOf(report)
  if (report.digest !== digest) return ['the digest is of another report']
  if (signer === undefined && report.signature === undefined) return []
  if (report.signature === undefined) return [`${signer} has not signed the report`]
  const by = signerOf(hashMessage(sealText(digest)), report.signature)
  return by === signer ? [] : [`the report is signed by ${by} and not by ${signer ?? 'nobody'}`]
}

/** The address that made a signature, in its checksummed spelling; `nobody` for what is none, or is spelt in another way. */
function signerOf(digest: string, signature: string): string {
  try {
    return Signature.from(signature).serialized === signature ? recoverAddress(digest, signature) : 'nobody'
  } catch {
    return 'nobody'
  }
}

/** The recorded signatures that are not by the address which the record names. */
function wrongSignatures({ signatures }: Recording): string[] {
  return signatures.flatMap(([address, digest, signature]) => {
    const by = signerOf(digest, signature)
    return by.toLowerCase() === String(address).toLowerCase()
      ? []
      : [`a signature over ${digest} is by ${by} and not by ${address}`]
  })
}

/** Another version of a suite may ask otherwise, so that nobody can tell. */
function requireSameVersions({ suites = [] }: Report, loaded: readonly LoadedSuite[]): void {
  for (const [index, { prefix, version }] of suites.entries()) {
    const present = loaded[index]?.version
    if (version !== present) {
      const of = `${version ?? 'no version'}, and --suite names ${present ?? 'none'}`
      throw new UsageError(`the part by the suite ${prefix} is of ${of}`)
    }
  }
}

/** What of the report does not come out when its record is judged again, and what this version cannot judge. */
async function judgedAgain(
  report: Report,
  suites: readonly LoadedSuite[],
): Promise<Pick<Verification, 'findings' | 'open'>> {
  const isOurs = report.suite.version === packageVersion()
  try {
    const again = await rejudge(report, suites)
    if (!isOurs) {
      // Another version may say the same in other words, and ask other questions.
      const { changed, open } = compareJudgements(report, again)
      return { findings: changed, open }
    }
    const claimed = { ...report, recording: undefined, digest: undefined, signature: undefined }
    const unasked = again.unasked.map(
      (question) => `the record holds a question that no check asks: ${shown(question)}`,
    )
    return { findings: [...differences(inJson(claimed), inJson(again.report), ''), ...unasked], open: [] }
  } catch (error) {
    const finding = `the record cannot be judged again: ${(error as Error).message}`
    return isOurs ? { findings: [finding], open: [] } : { findings: [], open: [finding] }
  }
}

const inJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Where two values of JSON differ: the path of each part, what the report says, and what comes out. */
function differences(claimed: unknown, found: unknown, path: string): string[] {
  if (Object.is(claimed, found)) return []
  if (typeof claimed !== 'object' || typeof found !== 'object' || claimed === null || found === null) {
    return [`${path.slice(1)}: the report says ${shown(claimed)}; judged again it is ${shown(found)}`]
  }
  const names = new Set([...Object.keys(claimed), ...Object.keys(found)])
  const member = (value: object, name: string): unknown =>
    Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
  return [...names].flatMap((name) => {
    const [was, is] = [member(claimed, name), member(found, name)]
    return differences(was, is, `${path}.${nameOf(was) ?? nameOf(is) ?? name}`)
  })
}

/** What a clause or a check of a list is called. */
function nameOf(element: unknown): string | undefined {
  const { id, title } = (element ?? {}) as { readonly id?: unknown; readonly title?: unknown }
  return [id, title].find((name) => typeof name === 'string')
}

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : showValue(value)
  return text.length > 120 ? `${text.slice(0, 120)}…` : text
}
