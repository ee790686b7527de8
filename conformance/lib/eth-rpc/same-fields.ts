import { Fault } from '../outcome.ts'
import { numberOf } from './quantity.ts'

type Members = Readonly<Record<string, unknown>>

/** Byte strings: their leading zeros count. Every other hex string is compared as a number. */
const byteStrings = new Set(['data', 'input', 'topics', 'logsBloom'])

function spelling(value: unknown): string {
  return JSON.stringify(value).toLowerCase()
}

function isSame(field: string, a: unknown, b: unknown): boolean {
  if (spelling(a) === spelling(b)) return true
  const [left, right] = [numberOf(a), numberOf(b)]
  return !byteStrings.has(field) && left !== undefined && left === right
}

/**
 * Each of the fields that the target gives has the value that the chain gives it: numbers by value, hex in any case. A
 * field that one of them leaves out is not compared: the documents show no results, and nodes differ in what they give.
 *
 * @param what names the compared thing in the message
 * @throws Fault for the first field that differs
 */
export function expectSameFields(what: string, fields: readonly string[], truth: Members, found: Members): void {
  for (const field of fields) {
    const [expected, actual] = [truth[field] ?? undefined, found[field] ?? undefined]
    if (expected === undefined || actual === undefined || isSame(field, expected, actual)) continue
    throw new Fault(`${field} of ${what} is not that of the chain`, {
      expected: JSON.stringify(expected),
      actual: JSON.stringify(actual),
    })
  }
}
