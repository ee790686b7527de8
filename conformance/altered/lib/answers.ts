import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import {
  type Alteration,
  type AlteredRequest,
  type AlteredResponse,
  type AlteredTools,
  type Handler,
  hangUp,
  respond,
  respondText,
} from '../define.ts'
import { requestObject } from './relay.ts'

/** Turns a refusal of the reference server into another form of refusal. */
export type Refusal = (refused: AlteredResponse) => AlteredResponse | Promise<AlteredResponse>

/** Whether POST /execute or POST /quota of the reference server refused the request. A rate limit is no refusal. */
function isRefusal({ status }: AlteredResponse): boolean {
  return status >= 400 && status !== 429
}

/** Puts the refusals of POST /execute or POST /quota in another form. */
function refuseBy(form: Refusal): Handler {
  return async (request, forward) => {
    const response = await forward(request)
    return isRefusal(response) ? form(response) : response
  }
}

/** A relay whose refusals have another form, at both of its endpoints. */
export function refusesBy(form: Refusal): Pick<Alteration, 'execute' | 'quota'> {
  return { execute: refuseBy(form), quota: refuseBy(form) }
}

/** Closes the connection instead of refusing. */
export const byHangingUp: Refusal = () => hangUp

/** Refuses everything with the same status. */
export function byStatus(status: number, json: unknown = { message: 'refused' }): Refusal {
  return () => respond(status, json)
}

/** Keeps the status of the refusal and replaces its body. */
export function byBody(text: string, contentType?: string): Refusal {
  return ({ status }) => respondText(status, text, contentType === undefined ? {} : { 'content-type': contentType })
}

/**
 * Puts the errors of single JSON-RPC requests in another form. Batches pass unaltered.
 *
 * @param form gets the error object and the id of the request
 */
export function rpcErrorsBy(
  form: (error: { readonly code: number; readonly message: string }, id: unknown) => AlteredResponse,
): Handler {
  return async (request, forward) => {
    const response = await forward(request)
    const { json } = response
    if (typeof json !== 'object' || json === null || !('error' in json)) return response
    const { error } = json as { error: { code: number; message: string } }
    return form(error, requestObject(request)['id'] ?? null)
  }
}

export interface Limit {
  readonly requests: number
  readonly windowMs: number
  /** Absent: every request counts. */
  readonly counts?: (request: AlteredRequest) => boolean
  /** The answer to a request beyond the limit. */
  readonly refuse: (leftMs: number, request: AlteredRequest) => AlteredResponse
}

interface Window {
  startMs: number
  count: number
}

function windowOf({ memory }: AlteredTools, windowMs: number): Window {
  const now = Date.now()
  let window = memory.get('window') as Window | undefined
  if (!window || now - window.startMs >= windowMs) window = { startMs: now, count: 0 }
  memory.set('window', window)
  return window
}

/** Takes this many requests in each window of time, and refuses the others. */
export function limited({ requests, windowMs, counts = () => true, refuse }: Limit): Handler {
  return async (request, forward, tools) => {
    if (!counts(request)) return forward(request)
    const window = windowOf(tools, windowMs)
    if (++window.count <= requests) return forward(request)
    return refuse(window.startMs + windowMs - Date.now(), request)
  }
}

/** Answers of a target that limits its callers and does not say so. */
export const untoldLimits = [
  ['hides-why', respond(400, { message: 'Bad request' })],
  ['answers-500', respond(500, { message: 'Internal Server Error' })],
  ['hangs-up', hangUp],
] as const

/** Retry-After in whole seconds. */
export function retryAfter(leftMs: number): Readonly<Record<string, string>> {
  return { 'retry-after': String(Math.max(1, Math.ceil(leftMs / 1000))) }
}

/** Retry-After as a date. */
export function retryAfterDate(leftMs: number): Readonly<Record<string, string>> {
  return { 'retry-after': new Date(Date.now() + Math.ceil(leftMs / 1000) * 1000 + 999).toUTCString() }
}

/** The JSON-RPC error of a rate limit, in HTTP 200. */
export function limitExceeded(
  request: AlteredRequest,
  error = { code: -32005, message: 'limit exceeded' },
): AlteredResponse {
  return respond(200, { jsonrpc: '2.0', id: requestObject(request)['id'] ?? null, error })
}

/** The quality with which servers code a fresh answer. The best quality takes seconds for a page of logs. */
const brotliQuality = 4

const coders = {
  gzip: gzipSync,
  br: (body: string | Uint8Array) =>
    brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  deflate: deflateSync,
  'raw deflate': deflateRawSync,
  zstd: zstdCompressSync,
} as const

/** Answers in a content coding, even if the client asked for none. */
export function coded(coding: keyof typeof coders): Handler {
  return async (request, forward) => {
    const response = await forward(request)
    if (response.hangsUp) return response
    const bytes = coders[coding](response.bytes ?? response.text)
    return { ...response, bytes, headers: { ...response.headers, 'content-encoding': coding.replace('raw ', '') } }
  }
}

/** How often this function was called with this key before. */
export function count({ memory }: AlteredTools, key: string): number {
  const before = Number(memory.get(key) ?? 0)
  memory.set(key, before + 1)
  return before
}

/**
 * Leaves the first answers as they are, and alters the later ones.
 *
 * @param answers how many answers stay as they are
 * @param counts which answers of the server count
 */
export function later(
  answers: number,
  counts: (response: AlteredResponse) => boolean,
  alter: (response: AlteredResponse, request: AlteredRequest, tools: AlteredTools) => AlteredResponse,
): Handler {
  return async (request, forward, tools) => {
    const response = await forward(request)
    if (!counts(response)) return response
    return count(tools, 'later') < answers ? response : alter(response, request, tools)
  }
}

/** Alters every n-th of the answers that count, with n in `every`. */
export function nowAndThen(
  every: number,
  counts: (response: AlteredResponse) => boolean,
  alter: (response: AlteredResponse) => AlteredResponse,
): Handler {
  return async (request, forward, tools) => {
    const response = await forward(request)
    if (!counts(response)) return response
    return count(tools, 'now and then') % every === every - 1 ? alter(response) : response
  }
}

/** Whether an answer of status 200 holds this member. */
export function holds(member: string): (response: AlteredResponse) => boolean {
  return ({ status, json }) => status === 200 && typeof json === 'object' && json !== null && member in json
}

/** How long an answer stays in the place that all share. */
const mixedUpMs = 30

/**
 * Keeps what it answers in one place for all requests: of those at the same time each gets what the last one got.
 *
 * @param give puts the last answer in place of a response
 * @param member only responses with this member are kept, and replaced
 */
export function mixedUp(
  give: (response: AlteredResponse, last: Readonly<Record<string, unknown>>) => AlteredResponse,
  member: string,
): Handler {
  const isKept = holds(member)
  return async (request, forward, { memory }) => {
    const response = await forward(request)
    if (!isKept(response)) return response
    memory.set('last', response.json)
    await new Promise((resolve) => setTimeout(resolve, mixedUpMs))
    return give(response, memory.get('last') as Readonly<Record<string, unknown>>)
  }
}

/**
 * Remembers what it has seen, in place of what it has found to be valid: a request that was refused is replaced when it
 * comes again.
 *
 * @param replace makes the request that is served; undefined: the refusal stays
 */
export function trustsWhatItHasSeen(
  replace: (request: AlteredRequest, tools: AlteredTools) => AlteredRequest | undefined,
): Handler {
  return async (request, forward, tools) => {
    const wasSeen = tools.memory.has(request.text)
    tools.memory.set(request.text, true)
    const response = await forward(request)
    const replaced = wasSeen && response.status === 401 ? replace(request, tools) : undefined
    return replaced ? forward(replaced) : response
  }
}

/** Knows a profile by its address with the checksum alone, at POST /execute or POST /quota. */
export const knowsNoLowerCase: Handler = async (request, forward) => {
  const { address } = requestObject(request)
  const isLower = typeof address === 'string' && address === address.toLowerCase()
  return isLower ? respond(404, { message: 'profile not registered' }) : forward(request)
}
