/** Where requests are sent. */
export interface Endpoint {
  /** Without user and password. */
  readonly url: string
  readonly headers: { readonly authorization?: string }
}

/** The endpoint of a path below a base URL; without a path, that of the base itself. */
export type Endpoints = (path?: string) => Endpoint

/**
 * Finds the endpoints below a base URL, whose query each of them keeps. The user and the password of the URL become a header
 * (RFC 7617), because `fetch` refuses a URL that holds them. In a page, the base may be relative.
 *
 * @param name of the option, for the error
 * @throws TypeError the base is no URL of http or https; the message does not repeat it, since it may hold a password
 */
export function endpointsBelow(base: string, name: string): Endpoints {
  const page = (globalThis as { readonly location?: { readonly href: string } }).location?.href
  const url = URL.canParse(base, page) ? new URL(base, page) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new TypeError(`${name} is no http or https URL`)
  const { username, password, pathname } = url
  // A URL spells each byte beyond ASCII by its number. `btoa` takes such bytes, and no other text.
  const user = unescape(`${username}:${password}`)
  const headers = user === ':' ? {} : { authorization: `Basic ${btoa(user)}` }
  Object.assign(url, { username: '', password: '', hash: '' })
  return (path = '') => {
    url.pathname = path === '' ? pathname : pathname.replace(/\/+$/, '') + path
    return { url: url.href, headers }
  }
}
