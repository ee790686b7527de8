import { isUtf8 } from 'node:buffer'

/** JSON that loses nothing: integers of any size are `number` or `bigint`, every other number keeps its spelling. */
export type Json = null | boolean | number | bigint | string | NonIntegerNumber | Json[] | { [key: string]: Json }

/**
 * A number literal that is no plain integer: a fraction, an exponent or `-0`. It is written back as it was read, and a
 * reader that wants an integer can refuse it by name instead of rounding it.
 */
export class NonIntegerNumber {
  /** The literal as it stood in the text, e.g. `1.50` or `1e3`. */
  readonly source: string

  constructor(source: string) {
    this.source = source
  }

  /** For `JSON.stringify`: the literal itself. */
  toJSON(): unknown {
    return JSON.rawJSON(this.source)
  }
}

/** Why a text is not taken: `encoding` is not UTF-8, `syntax` is not JSON, `depth` is nested too deep. */
export type JsonFault = 'encoding' | 'syntax' | 'depth'

export class JsonError extends Error {
  readonly fault: JsonFault

  constructor(fault: JsonFault, reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'JsonError'
    this.fault = fault
  }
}

export interface ParseJsonOptions {
  /** How deep arrays and objects may nest; found before anything walks the value. Default 32. */
  readonly maxDepth?: number
}

/**
 * Parses JSON (RFC 8259) without losing digits: integer literals beyond the safe range become `bigint`, fractions and
 * exponents a {@link NonIntegerNumber}. Of duplicate keys the last one holds; `__proto__` is a key like any other.
 *
 * @param input bytes must be UTF-8; a byte order mark is skipped
 * @throws JsonError
 */
export function parseJson(input: Uint8Array | string, { maxDepth = 32 }: ParseJsonOptions = {}): Json {
  const text = typeof input === 'string' ? input : decodeUtf8(input)
  const plain = scan(text, maxDepth)
  try {
    // A reviver costs several times the parsing itself: only for texts with a number that needs it.
    return (plain ? JSON.parse(text) : JSON.parse(text, keepNumber)) as Json
  } catch (cause) {
    throw new JsonError('syntax', cause instanceof Error ? cause.message : 'not JSON', { cause })
  }
}

/** Writes a value of {@link parseJson} back: bigint as an integer literal, other numbers as they were spelt. */
export function stringifyJson(value: Json): string {
  return JSON.stringify(value, writeBigint)
}

const BYTE_ORDER_MARK = 0xfeff

function decodeUtf8(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new JsonError('encoding', 'the text is not UTF-8')
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = buffer.toString('utf8')
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Integers of fewer digits than this are always exact. */
const SAFE_DIGITS = 15

/**
 * One pass over the text, strings skipped. It does not judge the syntax: `JSON.parse` does, afterwards.
 *
 * @returns whether every number is a short plain integer, which `JSON.parse` reads without loss
 * @throws JsonError depth
 */
function scan(text: string, maxDepth: number): boolean {
  let depth = 0
  let digits = 0
  let plain = true
  for (let index = 0; index < text.length; index++) {
    const char = text.charCodeAt(index)
    if (char >= 0x30 && char <= 0x39) {
      if (++digits > SAFE_DIGITS) plain = false
      continue
    }
    switch (char) {
      case QUOTE:
        index = endOfString(text, index)
        break
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > maxDepth) throw new JsonError('depth', `nested deeper than ${maxDepth}`)
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth--
        break
      case 0x2e: // .
        plain = false
        break
      case 0x65: // e
      case 0x45: // E
        if (digits > 0) plain = false
        break
      case 0x2d: // -
        if (text.charCodeAt(index + 1) === 0x30) plain = false
        break
    }
    digits = 0
  }
  return plain
}

/** Index of the quote that closes the string opened at `start`; the end of the text when none does. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return end
    end = text.indexOf('"', end + 1)
  }
  return text.length
}

function keepNumber(this: unknown, _key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined) return value
  if (!/^(?:0|-?[1-9][0-9]*)$/.test(source)) return new NonIntegerNumber(source)
  return Number.isSafeInteger(value) ? value : BigInt(source)
}

function writeBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? JSON.rawJSON(value.toString()) : value
}

// In V8 since Node 21, in the standard since ES2026; TypeScript's library does not have it yet.
declare global {
  interface JSON {
    rawJSON(text: string): unknown
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown
  }
}
