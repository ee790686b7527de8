import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Handler } from '../define.ts'

const coders = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync } as const

/** Answers in a content coding, whether it was asked for or not. */
export function coded(coding: keyof typeof coders): Handler {
  return async (request, forward) => {
    const response = await forward(request)
    if (response.hangsUp) return response
    const bytes = coders[coding](response.bytes ?? response.text)
    return { ...response, bytes, headers: { ...response.headers, 'content-encoding': coding } }
  }
}
