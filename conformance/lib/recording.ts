import { hashMessage, SigningKey } from 'ethers'
import { createHash, randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Account, Fixture } from './fixture.ts'
import { Untestable, UsageError } from './outcome.ts'
import type { Report } from './report-types.ts'
import type { World } from './world.ts'

/** A question of the run, and its answer. */
interface RecordedEvent {
  /** The place of the answer among all answers of the run, from 0; -1: the run ended before there was one. */
  readonly n: number
  /** For example `chain eth_chainId []`, `pause`, or a request to the target with its body. */
  readonly asked: string
  /** Absent: nothing, or more than a record holds (`isLeftOut`). */
  readonly answer?: unknown
  readonly isLeftOut?: true
  /** Each reading of the clock between this answer and the next one of the scope, in ms since the start. */
  readonly clock?: readonly number[]
}

/** What a check, or work that checks share, took from outside of itself, in the order of the questions. */
interface RecordedScope {
  /** The id of the first JSON-RPC request. */
  readonly beganWith?: number
  /** As in an event, before the first answer. */
  readonly clock?: readonly number[]
  readonly events: readonly RecordedEvent[]
}

/** What all checks of a run took from outside of themselves. */
export interface RecordedRun {
  /** Unix time in ms. */
  readonly startMs: number
  /** Random bytes of a scope are SHA-256 of `<seed> <scope> <count>`. */
  readonly seed: string
  /** What the fixture's controllers and others signed: the address, the digest and the signature of 65 bytes. */
  readonly signatures: readonly (readonly [address: string, digest: string, signature: string])[]
  readonly scopes: Readonly<Record<string, RecordedScope>>
}

/** All that it takes to judge the answers of a run again. */
export interface Recording extends RecordedRun {
  /** What the run was asked to do, as options of `check`, without keys and credentials. */
  readonly options: Readonly<Record<string, unknown>>
  /** How many checks were made before somebody interrupted the run; absent: nobody did. */
  readonly interruptedAfter?: number
  /** The target's answers held keys or credentials of the run. These were taken out, so the record cannot be judged again. */
  readonly isAltered?: true
}

/** No recording is longer than this: a run keeps `mostChars` of answers. */
const mostBytes = 512 * 1024 * 1024

/** A recording as a report holds it: JSON in gzip in base64. Pages of logs take a twentieth of their room so. */
export function packRecording(recording: Recording): string {
  return gzipSync(JSON.stringify(recording)).toString('base64')
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

function isWhole({ startMs, seed, signatures, scopes, options }: Partial<Recording>): boolean {
  const isScope = (scope: RecordedScope): boolean =>
    isObject(scope) && Array.isArray(scope.events) && scope.events.every(isObject)
  return (
    Number.isFinite(startMs) &&
    typeof seed === 'string' &&
    Array.isArray(signatures) &&
    signatures.every(Array.isArray) &&
    isObject(options) &&
    isObject(scopes) &&
    Object.values(scopes ?? {}).every(isScope)
  )
}

/**
 * Reads what `packRecording` wrote.
 *
 * @throws UsageError when it is damaged, or when nobody can judge it again
 */
export function unpackRecording(packed: string): Recording {
  let recording: Recording
  try {
    recording = JSON.parse(
      gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: mostBytes }).toString(),
    ) as Recording
    if (!isWhole(recording)) throw new Error('a part is missing')
  } catch (error) {
    throw new UsageError(`the record of the run is damaged (${(error as Error).message})`)
  }
  if (!recording.isAltered) return recording
  throw new UsageError(
    "the target's answers held secrets of the run, which the record leaves out: nobody can judge them again",
  )
}

const unanswered = -1

/** A run keeps this many characters of answers. What comes later can be judged once, and not again. */
const mostChars = 64 * 1024 * 1024

type Growing<T> = { -readonly [Name in keyof T]: T[Name] }

const keyOf = (address: string, digest: string): string => `${address} ${digest}`.toLowerCase()

function bytesOf(seed: string, scope: string, count: number): Uint8Array {
  return createHash('sha256').update(`${seed} ${scope} ${count}`).digest()
}

/** A world that writes down what it is asked, and the record that grows. */
export function createRecorder(name: string): { readonly world: World; readonly run: RecordedRun } {
  const startMs = Math.floor(performance.timeOrigin + performance.now())
  const seed = randomBytes(16).toString('hex')
  const signatures: [string, string, string][] = []
  const signed = new Set<string>()
  const scopes: Record<string, RecordedScope> = {}
  let answers = 0
  let chars = 0
  let turn = Promise.resolve()
  /** What an answer sets off has read the clock before the next answer comes, as when the record is judged again. */
  const nextTurn = (): Promise<void> => (turn = turn.then(() => new Promise((resolve) => setImmediate(resolve))))

  function scopeOf(scope: string): World {
    const record: Growing<RecordedScope> & { readonly events: Growing<RecordedEvent>[] } = { events: [] }
    scopes[scope] = record
    let latest: Growing<Pick<RecordedScope, 'clock'>> = record
    let drawn = 0
    return {
      async ask(asked, live) {
        const event: Growing<RecordedEvent> = { n: unanswered, asked }
        record.events.push(event)
        const answer = await live()
        await nextTurn()
        chars += asked.length + (answer === undefined ? 0 : JSON.stringify(answer).length)
        event.n = answers++
        if (chars > mostChars) event.isLeftOut = true
        else if (answer !== undefined) event.answer = answer
        latest = event
        return answer
      },
      timeMs() {
        const sinceStartMs = Math.round((performance.timeOrigin + performance.now() - startMs) * 1000) / 1000
        latest.clock = [...(latest.clock ?? []), sinceStartMs]
        return startMs + sinceStartMs
      },
      random: () => bytesOf(seed, scope, drawn++),
      signature(address, digest, live) {
        if (!live) throw new Error(`the key of ${address} is missing`)
        const signature = live()
        const key = keyOf(address, digest)
        if (!signed.has(key)) signatures.push([address, digest, signature])
        signed.add(key)
        return signature
      },
      beganWith: (count) => (record.beganWith ??= count),
      missing: undefined,
      miss: () => {},
      scope: scopeOf,
    }
  }
  return { world: scopeOf(name), run: { startMs, seed, signatures, scopes } }
}

/** A recorded answer for which somebody waits. */
interface Waiting {
  readonly event: RecordedEvent
  readonly deliver: () => void
}

/** A run that is judged again. */
interface Replay {
  readonly world: World
  /** The first question that the record does not answer, by scope. */
  readonly missed: ReadonlyMap<string, string>
  /** The recorded questions that nobody has asked. */
  unasked(): string[]
}

/**
 * A world that answers from a record. Of the answers for which checks wait, the one that came first in the run comes
 * first again, so that what ran at once takes turns as it did. A question that the record does not have makes the scope
 * untestable.
 */
export function createReplay(run: RecordedRun, name: string): Replay {
  const signatures = new Map(run.signatures.map(([address, digest, signature]) => [keyOf(address, digest), signature]))
  const taken = new Set<RecordedEvent>()
  const waiting: Waiting[] = []
  const missed = new Map<string, string>()

  /** The work after an answer has asked its next questions when `setImmediate` comes. */
  function deliverNext(): void {
    const next = waiting.reduce((first, one) => (one.event.n < first.event.n ? one : first))
    waiting.splice(waiting.indexOf(next), 1)
    if (waiting.length > 0) setImmediate(deliverNext)
    next.deliver()
  }

  function scopeOf(scope: string): World {
    const record = Object.hasOwn(run.scopes, scope) ? run.scopes[scope] : undefined
    const open = Map.groupBy(record?.events ?? [], ({ asked }) => asked)
    let clock = record?.clock ?? []
    let readings = 0
    let latestMs = record?.clock?.[0] ?? 0
    let drawn = 0
    const miss = (question: string): void => {
      if (!missed.has(scope)) missed.set(scope, question)
    }
    return {
      ask<T>(asked: string): Promise<T> {
        const event = open.get(asked)?.shift()
        if (!event || event.isLeftOut || event.n === unanswered) {
          miss(asked)
          return Promise.reject(new Untestable(`the record does not answer ${asked.slice(0, 200)}`))
        }
        return new Promise((resolve) => {
          const deliver = (): void => {
            taken.add(event)
            clock = event.clock ?? []
            readings = 0
            resolve(event.answer as T)
          }
          waiting.push({ event, deliver })
          if (waiting.length === 1) setImmediate(deliverNext)
        })
      },
      timeMs() {
        latestMs = clock[readings++] ?? latestMs
        return run.startMs + latestMs
      },
      random: () => bytesOf(run.seed, scope, drawn++),
      signature(address, digest, live) {
        const signature = signatures.get(keyOf(address, digest)) ?? live?.()
        if (signature !== undefined) return signature
        miss(`the signature of ${address} over ${digest}`)
        throw new Untestable(`the record has no signature of ${address} over ${digest}`)
      },
      beganWith: (count) => record?.beganWith ?? count,
      get missing() {
        return missed.get(scope)
      },
      miss,
      scope: scopeOf,
    }
  }
  return {
    world: scopeOf(name),
    missed,
    unasked: () =>
      Object.entries(run.scopes).flatMap(([scope, { events }]) =>
        events.filter((event) => !taken.has(event)).map(({ asked }) => `${scope}: ${asked}`),
      ),
  }
}

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
