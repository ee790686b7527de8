import type { RelayCall } from '../../core/define.ts'
import type { Clock } from '../clock.ts'
import type { Profiles } from '../profiles/profiles.ts'
import { assertIsController } from './judge.ts'

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
 * @returns a function that throws like `assertIsController`
 */
export function createControllerCheck({ profiles, clock }: ControllerCheckOptions): (call: RelayCall) => Promise<void> {
  const seenMs = new Map<string, number>()
  return async (call) => {
    const key = `${call.profile} ${call.signer}`
    if (clock.monotonicMs() - (seenMs.get(key) ?? -Infinity) < BELIEVED_MS) return
    await assertIsController(call, await profiles.parties(call), profiles)
    if (seenMs.size >= MOST) seenMs.clear()
    seenMs.set(key, clock.monotonicMs())
  }
}
