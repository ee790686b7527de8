import type { LoadedConfig } from './load.ts'

const REDACTED = '(redacted)'

/** Members of `specs/schemas/config.json` that are named like secrets, and are names of variables or of files. */
const HARMLESS: ReadonlySet<string> = new Set(['keystores', 'passwordFile', 'privateKeysFromEnv'])
/** Names of plugin options that may be secrets. */
const SECRET_NAME = /key|secret|token|pass|auth|cred|mnemonic|seed|private|signature|cookie|dsn/i
/** Segments of a node's URL that are no keys: `rpc`, `v3`, `mainnet`, `eth-rpc`. */
const PLAIN_SEGMENT = /^(?:v\d{1,2}|[a-z]{1,12}(?:-[a-z]{1,12}){0,2})$/

/**
 * The configuration that is in force as `serve --print-config` shows it: to be put into a bug report as it is. A
 * credential may stand in any part of a URL, and in any option of a plugin.
 */
export function redactConfig({ config, secrets }: Pick<LoadedConfig, 'config' | 'secrets'>): Record<string, unknown> {
  const { signerKeys, keystores, databaseUrl } = secrets
  const known = [...signerKeys.flatMap((key) => [key, key.slice(2)]), ...keystores.map(({ password }) => password)]
  return {
    ...(redact(
      config,
      known.filter((secret) => secret.length > 3),
    ) as Record<string, unknown>),
    secrets: {
      signerKeys: `${signerKeys.length} ${REDACTED}`,
      keystores: keystores.map(({ file }) => file),
      ...(databaseUrl === undefined ? {} : { databaseUrl: redactText(databaseUrl, known) }),
    },
  }
}

function redact(value: unknown, known: readonly string[]): unknown {
  if (typeof value === 'string') return redactText(value, known)
  if (Array.isArray(value)) return value.map((item: unknown) => redact(item, known))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]: [string, unknown]) => {
      const isSecret = SECRET_NAME.test(name) && !HARMLESS.has(name) && inner !== null && typeof inner !== 'boolean'
      return [redactText(name, known), isSecret ? REDACTED : redact(inner, known)]
    }),
  )
}

function redactText(text: string, known: readonly string[]): string {
  if (known.some((secret) => text.includes(secret))) return REDACTED
  const scheme = /^\s*([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]
  if (scheme !== undefined) return redactUrl(text.trim(), scheme)
  // A URL within other text, or an address with a user's name and no scheme.
  return /:\/\/|\S:\S+@/.test(text) || looksLikeKey(text) ? REDACTED : text
}

/** Keeps scheme, host, port, and segments of the path that are no keys. A URL that cannot be parsed is not shown. */
function redactUrl(text: string, scheme: string): string {
  let url: URL
  try {
    // URL parses the path only for schemes that it knows, so http stands in for the others.
    url = new URL(text.replace(scheme, 'http'))
  } catch {
    return `${scheme}://${REDACTED}`
  }
  // A password that contains / # or ? ends the host early: the rest of it is then in path, query or hash.
  if (/@/.test(`${url.pathname}${url.search}${url.hash}`)) return `${scheme}://${REDACTED}`
  const user = url.username === '' && url.password === '' ? '' : `${REDACTED}@`
  const host = url.host.split('.').map((label) => (looksLikeKey(label) ? REDACTED : label))
  const path = url.pathname
    .split('/')
    .map((segment) => (segment === '' || PLAIN_SEGMENT.test(segment) ? segment : REDACTED))
  const query = url.search === '' && url.hash === '' ? '' : `?${REDACTED}`
  const shownPath = url.pathname === '/' && !text.replace(/[?#].*$/s, '').endsWith('/') ? '' : path.join('/')
  return `${scheme}://${user}${host.join('.')}${shownPath}${query}`
}

/**
 * Whether a text is long, in one piece and has digits; or is a mnemonic, or a certificate's key. An address is no key.
 */
function looksLikeKey(text: string): boolean {
  if (/^0x[0-9a-f]{40}$/i.test(text)) return false
  const words = text.trim().split(/\s+/)
  if (words.length >= 12 && words.every((word) => /^[a-z]{3,8}$/.test(word))) return true
  if (text.includes('PRIVATE KEY')) return true
  return words.some((word) => !/^[./]/.test(word) && (/\d/.test(word) ? /[\w+=-]{20,}/ : /[A-Za-z+=]{32,}/).test(word))
}
