import type { RelayCall } from '../../core/define.ts'
import type { Clock } from '../clock.ts'
import type { Profiles } from '../profiles/profiles.ts'
import { isKeyManagerOf, noController, StaleProfileError } from './judge.ts'

interface ControllerCheckOptions {
  readonly profiles: Pick<Profiles, 'parties' | 'permissions'>
  readonly clock: Clock
}

/** What the chain said is believed for so long, so that a controller that asks again and again costs the node nothing. */
const BELIEVED_MS = 60_000
/** The most controllers that are remembered. */
const MOST = 10_000

/**
 * Makes sure that a refusal which says what a profile has left is told to its controllers alone, as by `POST /quota`.
 *
 * @returns a function that throws StaleProfileError when the profile has another key manager, for which another signer
 *   is recovered; ServiceError INVALID_SIGNATURE when the signer is no controller; UPSTREAM_UNAVAILABLE
 */
export function createControllerCheck({ profiles, clock }: ControllerCheckOptions): (call: RelayCall) => Promise<void> {
  const seenMs = new Map<string, number>()
  return async (call) => {
    const key = `${call.profile} ${call.signer}`
    if (clock.monotonicMs() - (seenMs.get(key) ?? -Infinity) < BELIEVED_MS) return
    const parties = await profiles.parties(call)
    if (!isKeyManagerOf(call, parties)) throw new StaleProfileError(call.profile)
    if (parties.permissions === 0n) throw await noController(call, profiles)
    if (seenMs.size >= MOST) seenMs.clear()
    seenMs.set(key, clock.monotonicMs())
  }
}
