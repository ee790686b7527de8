import type { ClauseId } from '../../specs/index.ts'
import { stringify } from '../lib/lossless-json.ts'
import type { Fixture } from '../lib/fixture.ts'

/** A request to the mutant, before the unbroken server sees it. */
export interface MutantRequest {
  readonly method: string
  /** Path and query as the client wrote them. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The raw body. */
  readonly text: string
  /** The body as JSON, integers beyond 2^53 as bigints; undefined when it is no JSON. */
  readonly json: unknown
}

/** An answer, of the unbroken server or the mutant's own. */
export interface MutantResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The body as JSON; undefined when it is no JSON. */
  readonly json: unknown
}

/** What a mutant may use beside the request. */
export interface MutantTools {
  /** The testbed, with the keys of all controllers. */
  readonly fixture: Fixture
  /** JSON-RPC to the testbed's chain. @throws when the node answers with an error */
  chain(method: string, params?: readonly unknown[]): Promise<unknown>
  /** What this mutant remembers between requests. */
  readonly memory: Map<string, unknown>
}

/** Hands a request to the unbroken server. */
export type Forward = (request: MutantRequest) => Promise<MutantResponse>

export type MutantHandler = (request: MutantRequest, forward: Forward, tools: MutantTools) => Promise<MutantResponse>

/** The reference server with one deliberate fault; what has no handler is forwarded as it is. */
export interface Mutant {
  /** The clause that must catch it; also the name of the file, with more behind `--` when there are several. */
  readonly clause: ClauseId
  /** What is broken, in one sentence. */
  readonly fault: string
  /** POST /execute. */
  readonly execute?: MutantHandler
  /** POST /quota. */
  readonly quota?: MutantHandler
  /** POST /api/eth-rpc: single requests and batches. */
  readonly rpc?: MutantHandler
}

/** A mutant stands in front of the unbroken server, alters what goes in or what comes out, or acts by itself. */
export function defineMutant(mutant: Mutant): Mutant {
  return mutant
}

/** The same request with another JSON body; bigints keep all of their digits. */
export function withJson(request: MutantRequest, json: unknown): MutantRequest {
  return { ...request, json, text: stringify(json) }
}

/** An answer with a JSON body. */
export function respond(status: number, json: unknown): MutantResponse {
  return { status, headers: { 'content-type': 'application/json' }, json, text: stringify(json) }
}

/** Alters each JSON-RPC response object of an answer, in a batch as well; what is no object stays. */
export function mapResponses(
  response: MutantResponse,
  alter: (body: Readonly<Record<string, unknown>>) => unknown,
): MutantResponse {
  const one = (body: unknown): unknown =>
    typeof body === 'object' && body !== null && !Array.isArray(body) ? alter(body as Record<string, unknown>) : body
  const { json } = response
  return json === undefined ? response : respond(response.status, Array.isArray(json) ? json.map(one) : one(json))
}
