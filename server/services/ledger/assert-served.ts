import { ServiceError } from '../../core/errors.ts'
import type { Account } from '../quotas/account.ts'
import type { Registration } from './account-rows.ts'

/** @throws ServiceError PROFILE_NOT_REGISTERED */
export function assertServed(profile: string, account: Account | undefined, registration: Registration): void {
  if (account?.suspended) throw new ServiceError('PROFILE_NOT_REGISTERED', `${profile} is suspended`)
  if (registration === 'registered' && account?.registered !== true) {
    throw new ServiceError('PROFILE_NOT_REGISTERED', `${profile} is not registered with this service`)
  }
}

/** @throws ServiceError RATE_LIMITED */
export function assertNotSlowed({ profile, slowedUntil }: Account, nowSeconds: number): void {
  if (slowedUntil <= nowSeconds) return
  const reason = `calls of ${profile} reverted though they had passed the simulation`
  throw new ServiceError('RATE_LIMITED', reason, { retryAfterSeconds: slowedUntil - nowSeconds })
}
