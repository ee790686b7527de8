/** A time in seconds beyond this lies after the year 5000. A time of today in milliseconds is beyond it. */
const beyondSeconds = 100_000_000_000

function hintOf(value: unknown): string | undefined {
  if (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))) {
    return 'a string that holds a number'
  }
  if (typeof value === 'string' && !Number.isNaN(Date.parse(value))) return 'a string that holds a date'
  return undefined
}

/** A wrong value for a message, with a guess at what it is. */
export function wrongValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent'
  const hint = hintOf(value)
  return hint === undefined ? text : `${text} — ${hint}`
}

/** A wrong time in seconds for a message, with a guess at what it is. */
export function wrongSeconds(value: unknown): string {
  const isMilliseconds = typeof value === 'number' && Math.abs(value) >= beyondSeconds
  return isMilliseconds ? `${value} — this looks like milliseconds` : wrongValue(value)
}

/** A wrong hash for a message, with a guess at what it is. */
export function wrongHash(value: unknown): string {
  const text = JSON.stringify(value)
  if (typeof value === 'number') return `${text} — a number, not a string`
  if (typeof value !== 'string') return text ?? 'absent'
  if (/^\d{60,}$/.test(value)) return `${text} — this looks like decimal, not hex`
  const [, digits] = /^(?:0x)?([0-9a-f]*)$/i.exec(value) ?? []
  if (digits === undefined) return `${text} — there are letters in it that are no hex digits`
  return `${text} — ${digits.length / 2} bytes, where a hash has 32`
}
