import type { ClauseId } from '../../specs/index.ts'
import type { Fixture } from '../lib/fixture.ts'
import { stringify } from '../lib/lossless-json.ts'

/** A chain that differs from the testbed's. The documents say nothing of ids, block times and forks. */
export interface ChainEnvironment {
  readonly chainId?: number
  /** The hardfork by Hardhat's name. */
  readonly hardfork?: string
  /** The chain makes a block at this interval; absent: a block per transaction, at once. */
  readonly blockTimeSeconds?: number
  /** Another account sends transactions and emits logs all the time. */
  readonly strangers?: true
  /** How many blocks without a transaction lie between the fixture and the run. */
  readonly emptyBlocks?: number
  /** Whether the fixture names no logs. */
  readonly withoutLogs?: true
}

/** Where an altered server listens; absent: 127.0.0.1 by HTTP, at the root. */
export interface ListenEnvironment {
  readonly host?: '127.0.0.1' | '::1'
  /** Listens by HTTPS, with a certificate that is made for it and that the run trusts. */
  readonly https?: true
  /** The path before those of the documents, without a slash at its end: `/v1`. */
  readonly prefix?: string
  /** Added to the URL that the suite is given. */
  readonly urlSuffix?: string
  /** Closes connections beyond so many. */
  readonly connections?: number
  /** Serves one connection after the other: each waits until those before it are closed. */
  readonly inTurn?: true
  /** Closes connections beyond so many in so many milliseconds. */
  readonly newConnections?: { readonly count: number; readonly windowMs: number }
}

/**
 * What an alteration of requests and answers cannot bring about: the chain, the server's configuration, where the
 * server listens, and options of the run.
 */
export interface ServerEnvironment {
  readonly chain?: ChainEnvironment
  /** Members of the reference server's configuration. They replace those of the testbed. */
  readonly server?: Readonly<Record<string, unknown>>
  /** The reference server lets calls that wait for the same account share a transaction. */
  readonly bundles?: boolean
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
  /** The body as JSON, with integers beyond 2^53 as bigints; undefined when it is no JSON. */
  readonly json: unknown
}

/** An answer of the reference server or of the alteration. */
export interface AlteredResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The body as JSON; undefined when it is no JSON. */
  readonly json: unknown
  /** The bytes of the body, which replace `text`: for content codings. */
  readonly bytes?: Uint8Array
  /** Closes the connection without an answer. */
  readonly hangsUp?: true
}

/** What an alteration may use in addition to the request. */
export interface AlteredTools {
  /** The fixture of the testbed, with the keys of all controllers. */
  readonly fixture: Fixture
  /**
   * Sends JSON-RPC to the testbed's chain.
   *
   * @throws Error when the node answers with an error
   */
  chain(method: string, params?: readonly unknown[]): Promise<unknown>
  /** What this server remembers between requests. */
  readonly memory: Map<string, unknown>
}

/** Hands a request on to the next handler, and at last to the reference server. */
export type Forward = (request: AlteredRequest) => Promise<AlteredResponse>

export type Handler = (request: AlteredRequest, forward: Forward, tools: AlteredTools) => Promise<AlteredResponse>

/**
 * The reference server with an alteration in front of it, over HTTP. A request without a handler is forwarded as it
 * is.
 */
export interface Alteration {
  /** Handles every request, of any path and verb; `forward` leads to the handler of the path. */
  readonly every?: Handler
  /** Handles POST /execute. */
  readonly execute?: Handler
  /** Handles POST /quota. */
  readonly quota?: Handler
  /** Handles POST /api/eth-rpc, for single requests and batches. */
  readonly rpc?: Handler
}

/** A server that breaks one sentence on purpose. `Id`: the ids of clauses that it may name. */
export interface Mutant<Id extends string = ClauseId> extends Alteration {
  /** The clause that must catch the fault. */
  readonly clause: Id
  /** Tells the mutants of one clause apart; one of them may have no name. */
  readonly name?: string
  /** What the server does wrong, in one sentence. */
  readonly fault: string
  /** The evidence appears in checks of other clauses, so `prove` runs the whole suite. */
  readonly whole?: true
  /** Absent: the testbed as it is. */
  readonly environment?: ServerEnvironment
}

/** A server that keeps every sentence of both documents, and differs where they are silent. */
export interface Lawful<Id extends string = ClauseId> extends Alteration {
  /** Unique, in kebab case. */
  readonly id: string
  /** The clauses whose checks could accuse it wrongly. */
  readonly clauses: readonly [Id, ...Id[]]
  /** The sentence, or the silence, of the documents that allows the difference. */
  readonly allowedBy: string
  /** Recommended clauses that the server breaks. */
  readonly mayFail?: readonly Id[]
  /** Required clauses for which no check can judge this server. */
  readonly untestable?: readonly Id[]
  /** Absent: the testbed as it is. */
  readonly environment?: ServerEnvironment
}

/** The clause of each path, for a server that is unusual at all of them. */
export const atEveryPath = ['relay.execute.post', 'relay.quota.post', 'eth-rpc.endpoint.post'] as const

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

/** Alters each JSON-RPC response object of an answer, also in a batch. Other values stay. */
export function mapResponses(
  response: AlteredResponse,
  alter: (body: Readonly<Record<string, unknown>>) => unknown,
): AlteredResponse {
  const one = (body: unknown): unknown =>
    typeof body === 'object' && body !== null && !Array.isArray(body) ? alter(body as Record<string, unknown>) : body
  const { json } = response
  return json === undefined ? response : respond(response.status, Array.isArray(json) ? json.map(one) : one(json))
}
