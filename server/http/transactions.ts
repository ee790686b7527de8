import type { Services } from '../core/define.ts'
import { ServiceError } from '../core/errors.ts'
import type { Route } from './route.ts'

/** `GET /transactions/{hash}`: what became of a relay call, by the hash of any of its attempts. An addition. */
export function transactionRoute({ relays }: Pick<Services, 'relays'>): Route {
  return {
    method: 'GET',
    path: '/transactions/:hash',
    handle: async (ctx) => {
      const hash = ctx.path.slice(ctx.path.lastIndexOf('/') + 1).toLowerCase()
      if (!/^0x[0-9a-f]{64}$/.test(hash)) throw new ServiceError('INVALID_REQUEST', 'the hash has 32 bytes in hex')
      const status = await relays.status(hash)
      if (!status) throw new ServiceError('NOT_FOUND', `no transaction ${hash} was sent from here`)
      ctx.body = status
    },
  }
}
