const NAMES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']

/** Whether a host is this machine, or in a private network. */
export const isLocal = ({ hostname }: URL): boolean => /^(localhost|127\.|\[::1\]|10\.|192\.168\.)/.test(hostname)

/**
 * What to add where nobody answers at a URL: the environment names a proxy, and the suite uses none, since a proxy could
 * answer in the target's place. Empty where there is none, or the host is near.
 */
export function unusedProxy(url: string): string {
  const name = NAMES.find((each) => (process.env[each] ?? '') !== '')
  if (name === undefined || isLocal(new URL(url))) return ''
  return ` (no proxy is used, though ${name} names one: run this where the host can be reached directly)`
}
