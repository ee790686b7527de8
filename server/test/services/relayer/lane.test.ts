import { expect } from 'chai'
import { pino } from 'pino'
import { ServiceError } from '../../../core/errors.ts'
import type { Upstream } from '../../../services/chain/upstream.ts'
import { openDatabase, type Database } from '../../../services/database/database.ts'
import { createBroadcaster } from '../../../services/relayer/broadcast.ts'
import { createLane } from '../../../services/relayer/lane.ts'
import { signerFromKey } from '../../../services/signers/signer-account.ts'

const log = pino({ level: 'silent' })

describe('createLane', () => {
  let database: Database
  before(async () => {
    database = await openDatabase({ url: null, folder: null, schema: 'lane', poolSize: 1 })
  })
  after(() => database.close())

  it('answers what is stored while no node takes anything, and comes to rest', async () => {
    let stored = 0
    const secondIsBeingStored = Promise.withResolvers<void>()
    const firstIsGivenUp = Promise.withResolvers<void>()
    const upstream: Upstream = {
      request: async () => {
        await secondIsBeingStored.promise
        throw new ServiceError('UPSTREAM_UNAVAILABLE', 'no node')
      },
      close: async () => {},
    }
    const lane = createLane({
      signer: signerFromKey(`0x${'11'.repeat(32)}`),
      database,
      broadcaster: createBroadcaster({ upstream, log }),
      log,
      commit: async (acceptances) => {
        if (++stored === 2) {
          secondIsBeingStored.resolve()
          await firstIsGivenUp.promise
        }
        return acceptances.map(() => ({ kind: 'stored', hash: `0x${stored}`, raw: '0x', accountNonce: stored }))
      },
      markSent: async () => {},
    })
    // What a call is does not matter to the lane.
    const call = {} as Parameters<typeof lane.submit>[0][number]
    const [first] = await lane.submit([call])
    const second = lane.submit([call])
    await first?.sent
    firstIsGivenUp.resolve()
    await (
      await second
    )[0]?.sent
    await lane.idle()
    expect(stored).to.equal(2)
  })
})
