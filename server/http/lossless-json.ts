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

/**
 * Why a text is not taken: `encoding` is not UTF-8, `syntax` is not JSON, `depth` is nested too deep, `values` are too
 * many, `number` has too many digits.
 */
export type JsonFault = 'encoding' | 'syntax' | 'depth' | 'values' | 'number'

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
  /**
   * How many values and keys it may hold together. Default 8,192. What a text takes to read, and to walk, goes by them:
   * each takes up to two microseconds, and a text of 1 MiB has room for half a million.
   */
  readonly maxValues?: number
}

/**
 * Parses JSON (RFC 8259) without losing digits: integer literals beyond the safe range become `bigint`, fractions and
 * exponents a {@link NonIntegerNumber}. Of duplicate keys the last one holds; `__proto__` is a key like any other. A number
 * has {@link LONGEST_NUMBER} characters at most: to read one of a million digits takes a second.
 *
 * @param input bytes must be UTF-8; a byte order mark is skipped
 * @throws JsonError
 */
export function parseJson(
  input: Uint8Array | string,
  { maxDepth = 32, maxValues = 8_192 }: ParseJsonOptions = {},
): Json {
  const text = typeof input === 'string' ? input : decodeUtf8(input)
  const plain = scan(text, maxDepth, maxValues)
  let json: Json
  try {
    json = JSON.parse(text) as Json
  } catch (cause) {
    throw new JsonError('syntax', cause instanceof Error ? cause.message : 'not JSON', { cause })
  }
  return plain ? json : readExactly(text)
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
/** The most characters of a number: 256 bits have 78 digits. */
const LONGEST_NUMBER = 100

/**
 * One pass over the text, strings skipped. It does not judge the syntax: `JSON.parse` does, afterwards.
 *
 * @returns whether every number is a short plain integer, which `JSON.parse` reads without loss
 * @throws JsonError depth, values, number
 */
function scan(text: string, maxDepth: number, maxValues: number): boolean {
  let depth = 0
  let values = 1
  const countValue = () => {
    if (++values > maxValues) throw new JsonError('values', `more than ${maxValues} values and keys`)
  }
  let digits = 0
  // Of the characters that numbers are made of.
  let run = 0
  let plain = true
  for (let index = 0; index < text.length; index++) {
    const char = text.charCodeAt(index)
    if (char >= 0x30 && char <= 0x39) {
      if (++digits > SAFE_DIGITS) plain = false
      if (++run > LONGEST_NUMBER) throw new JsonError('number', `a number has more than ${LONGEST_NUMBER} characters`)
      continue
    }
    run = char === 0x2e || char === 0x65 || char === 0x45 || char === 0x2d || char === 0x2b ? run + 1 : 0
    switch (char) {
      case QUOTE:
        index = endOfString(text, index)
        break
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > maxDepth) throw new JsonError('depth', `nested deeper than ${maxDepth}`)
        countValue()
        break
      case 0x2c: // ,
      case 0x3a: // :
        countValue()
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

/**
 * Reads a text that is known to be JSON, its numbers as they are spelt. A reviver of `JSON.parse` does the same and takes
 * ten times as long: a microsecond for each value.
 */
function readExactly(text: string): Json {
  let at = 0
  const skipSpace = () => {
    while (text.charCodeAt(at) <= 0x20) at++
  }
  const readString = (): string => {
    const start = at
    at = endOfString(text, start) + 1
    return stringIn(text, start, at)
  }
  const readWord = <Value>(word: Value): Value => {
    at += String(word).length
    return word
  }
  /** Calls `readMember` for each member up to the closing bracket. */
  const readMembers = (close: number, readMember: () => void) => {
    at++
    skipSpace()
    if (text.charCodeAt(at) === close) return void at++
    do {
      readMember()
      skipSpace()
    } while (text.charCodeAt(at++) !== close)
  }
  const readValue = (): Json => {
    skipSpace()
    switch (text.charCodeAt(at)) {
      case QUOTE:
        return readString()
      case 0x5b: {
        const list: Json[] = []
        readMembers(0x5d, () => list.push(readValue()))
        return list
      }
      case 0x7b: {
        const object: { [key: string]: Json } = {}
        readMembers(0x7d, () => {
          skipSpace()
          const key = readString()
          skipSpace()
          at++ // the colon
          setMember(object, key, readValue())
        })
        return object
      }
      case 0x74:
        return readWord(true)
      case 0x66:
        return readWord(false)
      case 0x6e:
        return readWord(null)
      default: {
        const source = numberAt(text, at)
        at += source.length
        return numberOf(source)
      }
    }
  }
  return readValue()
}

/** The string whose quotes stand at `start` and before `end`. */
function stringIn(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1)
  return raw.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : raw
}

const number = /[-+.eE0-9]+/y

/** The number that is spelt at an index. */
function numberAt(text: string, index: number): string {
  number.lastIndex = index
  return number.exec(text)?.[0] ?? ''
}

function setMember(object: { [key: string]: Json }, key: string, value: Json): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}

function numberOf(source: string): number | bigint | NonIntegerNumber {
  if (!/^(?:0|-?[1-9][0-9]*)$/.test(source)) return new NonIntegerNumber(source)
  const value = Number(source)
  return Number.isSafeInteger(value) ? value : BigInt(source)
}

function writeBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? JSON.rawJSON(value.toString()) : value
}

// In V8 since Node 21, in the standard since ES2026; TypeScript's library does not have it yet.
declare global {
  interface JSON {
    rawJSON(text: string): unknown
  }
}
