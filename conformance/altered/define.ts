import type { ClauseId } from '../../specs/index.ts'
import type { Fixture } from '../lib/fixture.ts'
import { stringify } from '../lib/lossless-json.ts'

/** A chain that differs from the testbed's: ids, blocks and forks are no matter of the documents. */
export interface ChainEnvironment {
  readonly chainId?: number
  /** As Hardhat names it. */
  readonly hardfork?: string
  /** A block every so many seconds; absent: a block per transaction, at once. */
  readonly blockTimeSeconds?: number
  /** Somebody else sends transactions and emits logs all the time. */
  readonly strangers?: true
  /** So many blocks without a transaction lie between the fixture and the run. */
  readonly emptyBlocks?: number
  /** The fixture names no logs to page through. */
  readonly withoutLogs?: true
}

/** Where an altered server listens; absent: 127.0.0.1 by HTTP, at the root. */
export interface ListenEnvironment {
  readonly host?: '127.0.0.1' | '::1'
  /** With a certificate that is made for it, and trusted by the run. */
  readonly https?: true
  /** Path before those of the documents, without a slash at its end: `/v1`. */
  readonly prefix?: string
  /** What is added to the URL that the suite is given. */
  readonly urlSuffix?: string
}

/** What an alteration of requests and answers cannot bring about. */
export interface ServerEnvironment {
  readonly chain?: ChainEnvironment
  /** Members of the reference server's configuration, in place of the testbed's. */
  readonly server?: Readonly<Record<string, unknown>>
  readonly listen?: ListenEnvironment
  /** Further arguments of the command `check`. */
  readonly options?: readonly string[]
}

/** A request to an altered server, before the reference server sees it. */
export interface AlteredRequest {
  readonly method: string
  /** Path and query, without the prefix of the environment. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The raw body. */
  readonly text: string
  /** The body as JSON, integers beyond 2^53 as bigints; undefined when it is no JSON. */
  readonly json: unknown
}

/** An answer, of the reference server or the alteration's own. */
export interface AlteredResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The body as JSON; undefined when it is no JSON. */
  readonly json: unknown
  /** The bytes of the body, in place of `text`: for content codings. */
  readonly bytes?: Uint8Array
  /** The connection is closed, and nothing is answered. */
  readonly hangsUp?: true
}

/** What an alteration may use beside the request. */
export interface AlteredTools {
  /** The testbed, with the keys of all controllers. */
  readonly fixture: Fixture
  /** JSON-RPC to the testbed's chain. @throws when the node answers with an error */
  chain(method: string, params?: readonly unknown[]): Promise<unknown>
  /** What this server remembers between requests. */
  readonly memory: Map<string, unknown>
}

/** Hands a request on to what stands behind: at last the reference server. */
export type Forward = (request: AlteredRequest) => Promise<AlteredResponse>

export type Handler = (request: AlteredRequest, forward: Forward, tools: AlteredTools) => Promise<AlteredResponse>

/** The reference server with an alteration in front of it, over HTTP. What has no handler is forwarded as it is. */
export interface Alteration {
  /** Every request, whatever its path and verb; `forward` leads to the handler of the path. */
  readonly every?: Handler
  /** POST /execute. */
  readonly execute?: Handler
  /** POST /quota. */
  readonly quota?: Handler
  /** POST /api/eth-rpc: single requests and batches. */
  readonly rpc?: Handler
}

/** A server that is broken on purpose, by one deliberate fault. */
export interface Mutant extends Alteration {
  /** The clause that must catch it. */
  readonly clause: ClauseId
  /** Tells the mutants of a clause apart; absent for one of them. */
  readonly name?: string
  /** What is broken, in one sentence. */
  readonly fault: string
  /** The evidence appears in checks of other clauses: to catch it, the whole suite must run. */
  readonly whole?: true
  /** Absent: the testbed as it is. */
  readonly environment?: ServerEnvironment
}

/** A server that keeps every sentence of both documents, and differs where they are silent. */
export interface Lawful extends Alteration {
  /** Unique, in words of kebab case. */
  readonly id: string
  /** The clauses that could be tempted to accuse it. */
  readonly clauses: readonly [ClauseId, ...ClauseId[]]
  /** The sentence, or the silence, of the documents that allows it. */
  readonly allowedBy: string
  /** Recommended clauses that it breaks. */
  readonly mayFail?: readonly ClauseId[]
  /** Required clauses of which nobody could judge this server. */
  readonly untestable?: readonly ClauseId[]
  /** Absent: the testbed as it is. */
  readonly environment?: ServerEnvironment
}

export function defineMutant(mutant: Mutant): Mutant {
  return mutant
}

export function defineLawful(lawful: Lawful): Lawful {
  return lawful
}

/** The same request with another JSON body; bigints keep all of their digits. */
export function withJson(request: AlteredRequest, json: unknown): AlteredRequest {
  return { ...request, json, text: stringify(json) }
}

/** An answer with a JSON body. */
export function respond(status: number, json: unknown, headers: AlteredResponse['headers'] = {}): AlteredResponse {
  return { status, headers: { 'content-type': 'application/json', ...headers }, json, text: stringify(json) }
}

/** An answer with any body. */
export function respondText(status: number, text: string, headers: AlteredResponse['headers'] = {}): AlteredResponse {
  return { status, headers, json: undefined, text }
}

/** Closes the connection without an answer. */
export const hangUp: AlteredResponse = { status: 0, headers: {}, json: undefined, text: '', hangsUp: true }

/** Alters each JSON-RPC response object of an answer, in a batch as well; what is no object stays. */
export function mapResponses(
  response: AlteredResponse,
  alter: (body: Readonly<Record<string, unknown>>) => unknown,
): AlteredResponse {
  const one = (body: unknown): unknown =>
    typeof body === 'object' && body !== null && !Array.isArray(body) ? alter(body as Record<string, unknown>) : body
  const { json } = response
  return json === undefined ? response : respond(response.status, Array.isArray(json) ? json.map(one) : one(json))
}
