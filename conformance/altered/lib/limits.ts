import { bodyOf } from './relay.ts'
import { respond, type AlteredRequest, type AlteredResponse, type AlteredTools, type Handler } from '../define.ts'

export interface RateLimit {
  readonly requests: number
  readonly windowMs: number
  /** Absent: every request counts. */
  readonly counts?: (request: AlteredRequest) => boolean
  /** What a request beyond the limit is answered. */
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

/** So many requests in each window of time, and no more. */
export function limited({ requests, windowMs, counts = () => true, refuse }: RateLimit): Handler {
  return async (request, forward, tools) => {
    if (!counts(request)) return forward(request)
    const window = windowOf(tools, windowMs)
    if (++window.count <= requests) return forward(request)
    return refuse(window.startMs + windowMs - Date.now(), request)
  }
}

/** Retry-After in whole seconds. */
export function retryAfter(leftMs: number): Readonly<Record<string, string>> {
  return { 'retry-after': String(Math.max(1, Math.ceil(leftMs / 1000))) }
}

/** Retry-After as a date. */
export function retryAfterDate(leftMs: number): Readonly<Record<string, string>> {
  return { 'retry-after': new Date(Date.now() + Math.ceil(leftMs / 1000) * 1000 + 999).toUTCString() }
}

/** The JSON-RPC error of a rate limit, in HTTP 200. */
export function limitExceeded(request: AlteredRequest): AlteredResponse {
  const error = { code: -32005, message: 'limit exceeded' }
  return respond(200, { jsonrpc: '2.0', id: bodyOf(request)['id'] ?? null, error })
}
