import { hashMessage, recoverAddress, Signature } from 'ethers'
import { packageVersion } from '../specs/index.ts'
import { type ChainComparison, compareWithChain } from './lib/chain-comparison.ts'
import type { ChainTruth } from './lib/chain-truth.ts'
import type { Fixture } from './lib/fixture.ts'
import type { LoadedSuite } from './lib/load-suite.ts'
import { showValue, Untestable } from './lib/outcome.ts'
import { digestOf, sealText } from './lib/recorded-report.ts'
import { type Recording, unpackRecording } from './lib/recording.ts'
import type { Report } from './lib/report-types.ts'
import { UsageError } from './lib/usage-error.ts'
import { compareJudgements, rejudge, suitesOf } from './rejudge.ts'

/** What was compared, and what was found to be untrue. */
export interface Verification {
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
