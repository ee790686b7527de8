import type { HostState } from './death.ts'
import { endpointState, type EndpointState } from './endpoint.ts'
import type { Environment } from './environment.ts'
import { UsageError } from './outcome.ts'
import type { QuotaReading } from './relay/message.ts'
import type { Edition } from './report-types.ts'

/** Where the two documents are served; null: the run does not judge this document. */
export interface Target {
  /** {relay_url} */
  readonly relayUrl: string | null
  /** {base_url} */
  readonly ethRpcUrl: string | null
}

/** @throws UsageError it is no URL of http or https; the message does not tell its user and password */
export function parseHttpUrl(text: string): URL {
  // A password with a slash in it ends the host.
  const shown = text.replace(/^(.*?:\/\/)?.*@/, '$1(redacted)@')
  const mayLackScheme = !text.includes('//') && URL.canParse(`http://${text}`)
  let url: URL
  try {
    url = new URL(text)
  } catch {
    const meant = mayLackScheme && text.includes('.') ? `; did you mean https://${shown}?` : ''
    throw new UsageError(`"${shown}" is no URL${meant}`)
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    // "localhost:3000" parses as a URL of the scheme "localhost".
    const meant = mayLackScheme ? `; did you mean http://${shown}?` : ''
    throw new UsageError(`"${shown}" is no http or https URL${meant}`)
  }
  return url
}

/** The URL without its user and password. @throws UsageError */
export function withoutUser(text: string): string {
  const url = parseHttpUrl(text)
  url.username = ''
  url.password = ''
  return url.href
}

/** The base with its prefix and query, without the slash at its end. @throws UsageError */
function parseBase(text: string): URL {
  const url = parseHttpUrl(text)
  url.pathname = url.pathname.replace(/\/+$/, '')
  url.hash = ''
  return url
}

function at(base: string, path: string, hosts: Map<string, HostState>): EndpointState {
  const url = parseBase(base)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
  const host = hosts.get(url.host) ?? {}
  hosts.set(url.host, host)
  return endpointState({ url: url.href, host })
}

/** The two base URLs in their normal form. @throws UsageError */
export function normaliseTarget({ relayUrl, ethRpcUrl }: Target): Target {
  const normal = (text: string | null): string | null =>
    text === null ? null : parseBase(text).href.replace(/\/$/, '')
  return { relayUrl: normal(relayUrl), ethRpcUrl: normal(ethRpcUrl) }
}

const chainIdRequest = '{"id":1,"jsonrpc":"2.0","method":"eth_chainId","params":[]}'

/** The URLs of the three endpoints, and of other paths. The run never asks those of a document that is left out. */
export function endpointsOf({ relayUrl, ethRpcUrl }: Target): Environment['endpoints'] {
  const unused = 'http://invalid.invalid'
  const hosts = new Map<string, HostState>()
  const others = new Map<string, EndpointState>()
  return {
    execute: at(relayUrl ?? unused, '/execute', hosts),
    quota: at(relayUrl ?? unused, '/quota', hosts),
    rpc: { ...at(ethRpcUrl ?? unused, '/api/eth-rpc', hosts), cheapRequest: chainIdRequest },
    at(path) {
      if (relayUrl === null) return undefined
      const state = others.get(path) ?? at(relayUrl, path, hosts)
      others.set(path, state)
      return state
    },
  }
}

/** What differs between the editions of the relay document. */
interface EditionTerms {
  /** The message that a controller signs for POST /quota. */
  readonly quotaMessage: QuotaReading
  /** Half of the window of the quota timestamp, in seconds; null: the edition names none. */
  readonly halfWindowSeconds: number | null
  /** This far from now, in seconds, a timestamp is outside the window, whatever the clocks show. */
  readonly outsideSeconds: number
  /** Stands between the base URL and the paths of the relay. */
  readonly pathPrefix: string
}

export const editionTerms: Readonly<Record<Edition, EditionTerms>> = {
  documents: { quotaMessage: 'personal message', halfWindowSeconds: 5, outsideSeconds: 30, pathPrefix: '' },
  lip: { quotaMessage: 'personal message', halfWindowSeconds: 300, outsideSeconds: 330, pathPrefix: '' },
  'lukso-2026-02': { quotaMessage: 'text', halfWindowSeconds: null, outsideSeconds: 1800, pathPrefix: '/api' },
}

/** The base URL of the relay's paths. A base URL that has the prefix of the edition already stays as it is. */
export function relayBaseOf(relayUrl: string, edition: Edition): string {
  const { pathPrefix } = editionTerms[edition]
  return relayUrl.endsWith(pathPrefix) ? relayUrl : `${relayUrl}${pathPrefix}`
}
