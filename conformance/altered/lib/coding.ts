import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import type { Handler } from '../define.ts'

/** The quality with which servers code a fresh answer. The best quality takes seconds for a page of logs. */
const brotliQuality = 4

const coders = {
  gzip: gzipSync,
  br: (body: string | Uint8Array) =>
    brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  deflate: deflateSync,
} as const

/** Answers in a content coding, even if the client asked for none. */
export function coded(coding: keyof typeof coders): Handler {
  return async (request, forward) => {
    const response = await forward(request)
    if (response.hangsUp) return response
    const bytes = coders[coding](response.bytes ?? response.text)
    return { ...response, bytes, headers: { ...response.headers, 'content-encoding': coding } }
  }
}
