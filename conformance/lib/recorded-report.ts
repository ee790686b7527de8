import { createHash } from 'node:crypto'
import { hashMessage, SigningKey } from 'ethers'
import type { Account, Fixture } from './fixture.ts'
import { packRecording, type Recording } from './recording.ts'
import type { Report } from './report-types.ts'

/** A value as JSON with the members of each object in alphabetical order, so that equal values are equal texts. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((one) => canonical(one ?? null)).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  const sorted = members.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${sorted.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`
}

/** SHA-256 of a report without its digest and signature, in hex. */
export function digestOf(report: Report): string {
  const content = canonical({ ...report, digest: undefined, signature: undefined })
  return createHash('sha256').update(content).digest('hex')
}

/** The text that a controller signs as a personal message (EIP-191): no relay call and no transaction. */
export const sealText = (digest: string): string => `Touchstone report ${digest}`

/**
 * A report with the recording of its run, the digest of both, and the signature of the controller `full` over that. Anybody
 * can make the digest of a changed report; the signature takes the key.
 */
export function recordedReport(report: Report, recording: Recording, fixture: Fixture | undefined): Report {
  const content = { ...report, recording: packRecording(recording) }
  const digest = digestOf(content)
  const privateKey = fixture?.controllers.full.privateKey
  if (privateKey === undefined) return { ...content, digest }
  return { ...content, digest, signature: new SigningKey(privateKey).sign(hashMessage(sealText(digest))).serialized }
}

/** The fixture as a record holds it: no private keys, and no URLs, which may hold credentials. */
function publicFixture({ chain, profile, controllers, logs, transactions, funder }: Fixture): Fixture {
  const { full, noSign, noRelay } = controllers
  const account = ({ address }: Account): Account => ({ address, privateKey: '' })
  return {
    chain: { rpcUrl: 'recorded', chainId: chain.chainId },
    profile,
    controllers: { full: account(full), noSign: account(noSign), noRelay: account(noRelay) },
    ...(logs ? { logs } : {}),
    ...(transactions ? { transactions } : {}),
    ...(funder ? { funder: account(funder) } : {}),
  }
}

interface Recordable {
  readonly fixture?: Fixture
  readonly rpcUrl?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The options of a run without private keys, credentials and the URL of the chain's node. */
export function recordedOptions(options: Recordable & Readonly<Record<string, unknown>>): Recording['options'] {
  const { fixture, rpcUrl, headers = {}, ...others } = options
  const plain = Object.entries(others).filter(([name]) => !['progress', 'signal', 'record', 'suites'].includes(name))
  return {
    ...Object.fromEntries(plain),
    headers: Object.fromEntries(Object.keys(headers).map((name) => [name, '(redacted)'])),
    ...(rpcUrl === undefined ? {} : { rpcUrl: 'recorded' }),
    ...(fixture ? { fixture: publicFixture(fixture) } : {}),
  }
}
