import { EnvHttpProxyAgent, type Dispatcher, type Pool } from 'undici'

const NAMES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']

/** Whether the environment asks Node for its proxies; from Node 24 on, `http` and `fetch` follow it too. */
const isWanted = () => process.env['NODE_USE_ENV_PROXY'] === '1'

/**
 * Sends by the proxies of the environment (`HTTPS_PROXY`, `HTTP_PROXY`, but for the hosts in `NO_PROXY`), when
 * `NODE_USE_ENV_PROXY=1` asks for them.
 *
 * @param poolOf makes the pool of connections to the proxy, or to a host that is reached directly
 * @returns undefined when they are not wanted
 */
export function environmentProxy(poolOf: (origin: string, options: Pool.Options) => Pool): Dispatcher | undefined {
  if (!isWanted()) return undefined
  return new EnvHttpProxyAgent({ factory: (origin, options) => poolOf(String(origin), options) })
}

/**
 * What to add where no node answers: whether the proxy that the environment names was used. Its URL may hold a password, and
 * is not quoted.
 */
export function aboutProxy(): string {
  const name = NAMES.find((each) => (process.env[each] ?? '') !== '')
  if (name === undefined) return ''
  return isWanted() ? `; asked by the proxy of ${name}` : `; the proxy of ${name} is used with NODE_USE_ENV_PROXY=1`
}

/** @returns the status with which a proxy refuses to connect to the node, as undici words it; undefined: it is another error */
export function proxyRefusal(error: unknown): string | undefined {
  const message = error instanceof Error ? error.message : ''
  const [, status] = /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(message) ?? []
  return status
}
