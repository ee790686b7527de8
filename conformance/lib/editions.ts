import type { Edition } from './report-types.ts'
import type { QuotaReading } from './relay/message.ts'

/** What differs between the editions of the relay document. */
export interface EditionTerms {
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
