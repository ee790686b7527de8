const secretHeaders = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'x-api-key', 'apikey'])

/** Shortens a signature: what stays tells two signatures apart and shows a wrong length. */
function shortenHex(hex: string): string {
  const bytes = (hex.length - 2) / 2
  return `${hex.slice(0, 10)}…${hex.slice(-4)} (${bytes} bytes, shortened)`
}

/** A body for the record: each `"signature"` of 32 bytes or more is shortened. The body need not be JSON. */
export function redactBody(body: string): string {
  return body.replace(
    /("signature"\s*:\s*\[?\s*")(0x[0-9a-fA-F]{64,})(")/g,
    (_all, before: string, hex: string, after: string) => `${before}${shortenHex(hex)}${after}`,
  )
}

/** Headers for the record, without the values that are credentials. */
export function redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      secretHeaders.has(name.toLowerCase()) ? '(redacted)' : value,
    ]),
  )
}

/** Whether a text may be a credential. Short words and media types are none, and stand in every answer. */
export const isSecret = (text: string): boolean => text.length >= 8 && !/^[a-z]+\/[a-z0-9.+*-]+$/i.test(text)

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/**
 * A private key in the forms in which a target may write it: hex, base64 and decimal. Either end of the hex counts
 * as the key from 8 bytes on, since a report may cut a long answer in the middle of a key.
 */
function formsOfKey(privateKey: string): { readonly marks: string[]; readonly patterns: string[] } {
  const hex = privateKey.replace(/^0x/i, '')
  const bytes = Buffer.from(hex, 'hex')
  const [first, last] = [hex.slice(0, 16), hex.slice(-16)]
  const forms = [bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url'), String(BigInt(`0x${hex}`))]
  const whole = forms.map(literal)
  return { marks: [first, last, ...whole], patterns: [`${first}[0-9a-f]{0,48}`, `[0-9a-f]{0,48}${last}`, ...whole] }
}

/**
 * A copy of the value whose strings hold none of these texts, in upper or lower case.
 *
 * @param secrets texts; none is empty
 * @param privateKeys hex of 32 bytes, with or without 0x
 */
export function withoutSecrets<Value>(
  value: Value,
  secrets: readonly string[],
  privateKeys: readonly string[] = [],
): Value {
  const forms = [
    ...privateKeys.map(formsOfKey),
    ...secrets.map(literal).map((one) => ({ marks: [one], patterns: [one] })),
  ]
  if (forms.length === 0) return value
  const pattern = new RegExp(forms.flatMap(({ patterns }) => patterns).join('|'), 'gi')
  // A text of 1 MB takes the pattern 3 s, and this one 10 ms: hardly any text holds a secret.
  const mark = new RegExp(forms.flatMap(({ marks }) => marks).join('|'), 'i')
  const without = (part: unknown): unknown => {
    if (typeof part === 'string') return mark.test(part) ? part.replace(pattern, '(redacted)') : part
    if (Array.isArray(part)) return part.map(without)
    if (part === null || typeof part !== 'object') return part
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, without(member)]))
  }
  return without(value) as Value
}

/** A URL for the record, without user, password and the values of the query, which may hold keys. */
export function redactUrl(url: string): string {
  const parsed = new URL(url)
  parsed.username = ''
  parsed.password = ''
  for (const name of new Set(parsed.searchParams.keys())) parsed.searchParams.set(name, 'redacted')
  return url.endsWith('/') ? parsed.href : parsed.href.replace(/\/$/, '')
}
