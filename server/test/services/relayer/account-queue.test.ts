import { expect } from 'chai'
import { pino } from 'pino'
import { ServiceError } from '../../../core/errors.ts'
import type { Upstream } from '../../../services/node/upstream.ts'
import { openDatabase, type Database } from '../../../services/database/database.ts'
import { createBroadcaster } from '../../../services/relayer/broadcast.ts'
import { NotHeldError } from '../../../services/ledger/commit.ts'
import { AccountQueue } from '../../../services/relayer/account-queue.ts'
import { signerFromKey } from '../../../services/signers/signers.ts'

const log = pino({ level: 'silent' })

describe('AccountQueue', () => {
  let database: Database
  before(async () => {
    database = await openDatabase({ url: null, folder: null, schema: 'account_queue', poolSize: 1 })
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
    const queue = new AccountQueue({
      signer: signerFromKey(`0x${'11'.repeat(32)}`),
      database,
      broadcaster: createBroadcaster({ upstream, log }),
      log,
      commit: async (acceptances) => {
        if (++stored === 2) {
          secondIsBeingStored.resolve()
          await firstIsGivenUp.promise
        }
        return acceptances.map(() => {
          const hash = `0x${stored}`
          return { kind: 'stored', hash, raw: '0x', accountNonce: stored, relay: hash }
        })
      },
    })
    // What a call is does not matter to the queue.
    const call = {} as Parameters<typeof queue.submit>[0][number]
    const first = await queue.submit([call])
    const second = queue.submit([call])
    await first.sent
    firstIsGivenUp.resolve()
    await (
      await second
    ).sent
    await queue.idle()
    expect(stored).to.equal(2)
  })

  it('sends what no node took, and what another process left, before what comes next', async () => {
    const signer = signerFromKey(`0x${'22'.repeat(32)}`)
    const rawOf = (nonce: number) => `0x0${nonce}`
    let next = 0
    /** Stores a transaction, as a process does before it sends it. */
    const store = async () => {
      const nonce = next++
      const hash = `0xhash${nonce}`
      const sender = { account: signer.address, account_nonce: nonce, created_at_ms: 1 }
      const call = { identity: hash, profile: '0x', key_manager: '0x', signer: '0x', nonce: String(nonce) }
      const state = { status: 'pending', plan: 'default', period: 0, reserved: '0', gas_limit: 0 } as const
      await database.db
        .insertInto('relays')
        .values({ hash, ...call, ...state, ...sender })
        .execute()
      await database.db
        .insertInto('attempts')
        .values({ hash, raw: rawOf(nonce), relay: hash, kind: 'call', max_fee_per_gas: '1', ...sender })
        .execute()
      return { kind: 'stored', hash, raw: rawOf(nonce), accountNonce: nonce, relay: hash } as const
    }
    let isAway = true
    const sent: unknown[] = []
    const upstream: Upstream = {
      request: <Result>(_method: string, params: readonly unknown[]) => {
        if (isAway) return Promise.reject(new ServiceError('UPSTREAM_UNAVAILABLE', 'no node'))
        sent.push(params[0])
        return Promise.resolve(null as Result)
      },
      close: async () => {},
    }
    await database.db.insertInto('signer_accounts').values({ address: signer.address, next_nonce: 0 }).execute()
    /** Of one process. */
    const queueOf = () =>
      new AccountQueue({
        signer,
        database: { ...database, isShared: true },
        broadcaster: createBroadcaster({ upstream, log }),
        log,
        commit: (acceptances) => Promise.all(acceptances.map(store)),
      })
    const [mine, other] = [queueOf(), queueOf()]
    const submit = async (queue = mine) => {
      const answer = await queue.submit([{} as Parameters<typeof queue.submit>[0][number]])
      await answer.sent
      await queue.idle()
    }
    await submit()
    expect(sent).to.deep.equal([])
    isAway = false
    await submit()
    expect(sent).to.deep.equal([rawOf(0), rawOf(1)])
    await store()
    await submit()
    expect(sent.splice(0)).to.deep.equal([0, 1, 2, 3].map(rawOf))
    // Nobody offers again what another process has offered.
    await submit(other)
    await submit()
    expect(sent).to.deep.equal([rawOf(4), rawOf(5)])
  })

  it('takes its account anew when another process has taken it, and answers the call once', async () => {
    const holders: (string | undefined)[] = []
    const queue = new AccountQueue({
      signer: signerFromKey(`0x${'44'.repeat(32)}`),
      database: { ...database, isShared: true },
      broadcaster: createBroadcaster({ upstream: { request: async () => null as never, close: async () => {} }, log }),
      log,
      commit: async (acceptances, holder) => {
        holders.push(holder)
        if (holders.length === 1) throw new NotHeldError()
        return acceptances.map(() => ({ kind: 'stored', hash: '0xhash', raw: '0x', accountNonce: 0, relay: '0xhash' }))
      },
    })
    const { committed } = await queue.submit([{} as Parameters<typeof queue.submit>[0][number]])
    await queue.idle()
    expect(committed.map(({ kind }) => kind)).to.deep.equal(['stored'])
    expect(new Set(holders).size).to.equal(2)
    expect(holders).to.not.include(undefined)
  })

  describe('with a ledger that cannot be read', () => {
    /** What was sent of calls with these nonces of the account, each in a turn of its own, or all in one. */
    async function sentOf(nonces: readonly number[], inOneTurn = false): Promise<unknown[]> {
      const sent: unknown[] = []
      const allAreStored = Promise.withResolvers<void>()
      const upstream: Upstream = {
        request: async <Result>(_method: string, [raw]: readonly unknown[]) => {
          sent.push(raw)
          if (inOneTurn) await allAreStored.promise
          return null as Result
        },
        close: async () => {},
      }
      const left = [...nonces]
      const broken = new Proxy(database.db, {
        get: () => {
          throw new Error('the ledger is away')
        },
      })
      const queue = new AccountQueue({
        signer: signerFromKey(`0x${'33'.repeat(32)}`),
        database: { ...database, isShared: false, exclusively: (_key, work) => work(broken) },
        broadcaster: createBroadcaster({ upstream, log }),
        log,
        commit: async (acceptances) =>
          acceptances.map(() => {
            const accountNonce = left.shift() ?? NaN
            const hash = `0xhash${accountNonce}`
            return { kind: 'stored', hash, raw: `0x0${accountNonce}`, accountNonce, relay: hash }
          }),
      })
      while (left.length > 0) {
        const answer = await queue.submit([{} as Parameters<typeof queue.submit>[0][number]])
        if (left.length === 0) allAreStored.resolve()
        if (inOneTurn) continue
        await answer.sent
        await queue.idle()
      }
      await queue.idle()
      return sent
    }

    it('sends what follows on what it has sent: nothing can be missing', async () => {
      expect(await sentOf([0, 1, 2])).to.deep.equal(['0x00', '0x01', '0x02'])
      expect(await sentOf([0, 1, 2], true)).to.deep.equal(['0x00', '0x01', '0x02'])
    })

    it('answers, and leaves to the background work what may follow on something that is missing', async () => {
      expect(await sentOf([0, 2])).to.deep.equal(['0x00'])
    })
  })
})
