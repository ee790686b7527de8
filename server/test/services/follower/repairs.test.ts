import { expect } from 'chai'
import { pino } from 'pino'
import { ServiceError } from '../../../core/errors.ts'
import type { Fees } from '../../../ethereum/transaction.ts'
import type { FeeSource } from '../../../services/relayer/fees.ts'
import { type Database, openDatabase } from '../../../services/database/database.ts'
import type { Attempts } from '../../../services/follower/attempts.ts'
import { createAges, type FollowerOptions, type Waiting } from '../../../services/follower/look.ts'
import { createRepairs, replaceStuck, sendMissing } from '../../../services/follower/repairs.ts'
import type { TriedRelay } from '../../../services/ledger/open-relays.ts'
import { noteRefusal, refusalOf } from '../../../services/ledger/signer-accounts.ts'
import { signerFromKey } from '../../../services/signers/signers.ts'

const signer = signerFromKey(`0x${'55'.repeat(32)}`)
const account = signer.address
const offered: Fees = { type: 2, maxFeePerGas: 100n, maxPriorityFeePerGas: 1n }

/** A call that waits to be mined; its channel is its key manager, and all attempts have the same fees. */
function relay(accountNonce: number, altered: Partial<TriedRelay> & { readonly kind?: 'call' | 'cancel' } = {}) {
  const { kind = 'call', ...rest } = altered
  return {
    hash: `0xhash${accountNonce}`,
    transaction: `0xhash${accountNonce}`,
    place: null,
    profile: '0x',
    keyManager: '0x',
    signer: '0x',
    nonce: BigInt(accountNonce),
    status: 'pending',
    gasLimit: 100_000n,
    accountNonce,
    expiresAt: null,
    mined: null,
    requestId: null,
    row: {} as TriedRelay['row'],
    attempts: [{ hash: `0xhash${accountNonce}`, kind, nonce: accountNonce, fees: offered, createdAtMs: 0 }],
    ...rest,
  } satisfies TriedRelay
}

describe('repairs', () => {
  let database: Database
  before(async () => {
    database = await openDatabase({ url: null, folder: null, schema: 'repairs', poolSize: 1 })
  })
  after(() => database.close())
  beforeEach(async () => {
    await database.db.deleteFrom('signer_accounts').execute()
    await database.db.insertInto('signer_accounts').values({ address: account, next_nonce: 9 }).execute()
  })

  /** The first relay is next on the chain; the node knows none of them, and all have waited for a minute. */
  const waitingOf = (relays: readonly TriedRelay[], altered: Partial<Waiting> = {}): Waiting => ({
    account,
    relays,
    head: { number: 1, hash: '0x', timestamp: 1_000 },
    chainNonce: relays[0]?.accountNonce ?? 0,
    knownNonce: relays[0]?.accountNonce ?? 0,
    refusal: undefined,
    refusedForMs: 0,
    ageMs: () => 60_000,
    ageBlocks: () => 1,
    ...altered,
  })

  /** What the repairs ask of others, as these would be on a chain that wants twice the fees. */
  const optionsOf = (altered: Partial<FollowerOptions> = {}) =>
    ({
      database,
      signerOf: () => signer,
      clock: { nowMs: () => 1_000_000, monotonicMs: () => 0 },
      log: pino({ level: 'silent' }),
      resendAfterMs: 1_000,
      replaceAfterMs: 30_000,
      refusedAfterMs: 10_000,
      fees: {
        current: async () => ({ ...offered, maxFeePerGas: 200n }),
        raised: async (fees: Fees) => ({ ...fees, maxFeePerGas: 125n }),
      },
      ...altered,
    }) as unknown as FollowerOptions

  describe('replaceStuck', () => {
    /** @returns what was replaced by what: the nonce, the kind of transaction, the highest fee per gas */
    async function replaced(waiting: Waiting, altered: Partial<FollowerOptions> = {}, isTaken = true) {
      const replacements: unknown[] = []
      const attempts: Attempts = {
        replace: async ({ relays: [first], carried }, _signer, fees) => {
          const kind = carried.length > 0 ? 'call' : 'cancel'
          replacements.push([first?.accountNonce, kind, fees.type === 2 ? fees.maxFeePerGas : fees.gasPrice])
          return isTaken
        },
        renew: () => Promise.reject(new Error('nothing is lost')),
      }
      await replaceStuck(waiting, attempts, optionsOf(altered))
      return replacements
    }

    it('raises the fees of what has waited for too long, and of nothing else', async () => {
      const ageMs = ({ accountNonce }: TriedRelay) => (accountNonce === 4 ? 30_000 : 29_999)
      expect(await replaced(waitingOf([relay(3), relay(4)], { knownNonce: 5, ageMs }))).to.deep.equal([
        [4, 'call', 125n],
      ])
    })

    it('raises the fees once while no block comes, and again when one has come', async () => {
      const [sent, raised] = [relay(3), relay(4)]
      const again = { ...raised, attempts: [...raised.attempts, ...raised.attempts] }
      const waiting = waitingOf([sent, again], { knownNonce: 5, ageBlocks: () => 0 })
      expect(await replaced(waiting)).to.deep.equal([[3, 'call', 125n]])
      expect(await replaced({ ...waiting, ageBlocks: () => 1 })).to.deep.equal([
        [3, 'call', 125n],
        [4, 'call', 125n],
      ])
    })

    it('does nothing without a key, and at the ceiling of the fees', async () => {
      const waiting = waitingOf([relay(3)], { knownNonce: 4 })
      expect(await replaced(waiting, { signerOf: () => undefined })).to.deep.equal([])
      const fees = { current: async () => offered, raised: async () => null } as unknown as FollowerOptions['fees']
      expect(await replaced(waiting, { fees })).to.deep.equal([])
    })

    it('says once that a fee is at the ceiling, and again when it is at one anew', async () => {
      const lines: string[] = []
      let nowMs = 0
      const clock = { nowMs: () => 1_000_000, monotonicMs: () => nowMs }
      const options = optionsOf({
        clock,
        log: pino({ level: 'warn' }, { write: (line: string) => lines.push(line) }),
        upstream: { request: async <Result>() => '0x4' as Result, close: async () => {} },
        fees: { current: async () => offered, raised: async () => null } as unknown as FeeSource,
      })
      const { repairWaiting } = createRepairs({ ...options, ages: createAges(clock) })
      const look = async (altered: Partial<TriedRelay> = {}) => {
        nowMs += 1_000
        const at = { head: { number: 1, hash: '0x', timestamp: 1_000 }, chainNonce: 3, refusal: undefined }
        await repairWaiting(account, [relay(3, altered)], at)
      }
      for (let looks = 0; looks < 5; looks++) await look()
      expect(lines).to.have.length(1)
      expect(lines[0]).to.include('at the ceiling').and.include('0xhash3')
      await look({ attempts: [{ hash: '0xnew', kind: 'call', nonce: 3, fees: offered, createdAtMs: 1_000_000 }] })
      await look()
      expect(lines).to.have.length(2)
    })

    it('uses up the nonce of a call that is over, but not of what follows on it', async () => {
      const relays = [relay(3, { expiresAt: 999n }), relay(4)]
      const waiting = waitingOf(relays, { knownNonce: 5, ageMs: () => 0 })
      expect(await replaced(waiting)).to.deep.equal([[3, 'cancel', 125n]])
    })

    it('uses up the nonces of a call that is given up, and of what follows on it in its channel', async () => {
      const relays = [relay(3), relay(4), relay(5, { keyManager: '0xother' })]
      const refusal = { nonce: 3, sinceMs: 0, count: 3 }
      const waiting = waitingOf(relays, { refusal, refusedForMs: 10_000, ageMs: () => 0 })
      expect(await replaced(waiting)).to.deep.equal([
        [3, 'cancel', 200n],
        [4, 'cancel', 125n],
      ])
      expect(await replaced({ ...waiting, refusedForMs: 9_999 })).to.deep.equal([[3, 'call', 200n]])
      expect(await replaced({ ...waiting, refusal: { ...refusal, count: 2 } })).to.deep.equal([[3, 'call', 200n]])
    })

    describe('of bundles', () => {
      const member = (accountNonce: number, place: number, altered: Parameters<typeof relay>[1] = {}) =>
        relay(accountNonce, { hash: `0xhash${accountNonce}/${place}`, place, nonce: BigInt(place), ...altered })
      /** @returns by what each bundle was replaced: the nonce, and the places that are carried on */
      async function carriedOn(waiting: Waiting) {
        const replacements: unknown[] = []
        const replace: Attempts['replace'] = async ({ relays: [first], carried }) => {
          replacements.push([first?.accountNonce, carried.map(({ place }) => place)])
          return true
        }
        await replaceStuck(waiting, { replace, renew: () => Promise.reject(new Error('nothing is lost')) }, optionsOf())
        return replacements
      }

      it('raises the fees of all calls together', async () => {
        const relays = [member(3, 0), member(3, 1), relay(4)]
        expect(await carriedOn(waitingOf(relays, { knownNonce: 5 }))).to.deep.equal([
          [3, [0, 1]],
          [4, [null]],
        ])
      })

      it('leaves out what follows on a call that is given up, and nothing else', async () => {
        const follower = { keyManager: '0xother', nonce: 9n }
        const relays = [
          relay(3, { keyManager: '0xother', nonce: 8n }),
          member(4, 0),
          member(4, 1, follower),
          member(4, 2),
        ]
        const refusal = { nonce: 3, sinceMs: 0, count: 3 }
        const waiting = waitingOf(relays, { refusal, refusedForMs: 10_000, ageMs: () => 0 })
        expect(await carriedOn(waiting)).to.deep.equal([
          [3, []],
          [4, [0, 2]],
        ])
        // Once it is left out, nothing more is to be done about it.
        const later = [relays[0]!, relays[1]!, member(4, 1, { ...follower, kind: 'cancel' }), relays[3]!]
        expect(await carriedOn({ ...waiting, relays: later })).to.deep.equal([[3, []]])
      })

      it('waits for a bundle until all of its calls are over', async () => {
        const over = { expiresAt: 999n }
        const waiting = (relays: TriedRelay[]) => waitingOf(relays, { knownNonce: 4, ageMs: () => 0 })
        expect(await carriedOn(waiting([member(3, 0, over), member(3, 1)]))).to.deep.equal([])
        expect(await carriedOn(waiting([member(3, 0, over), member(3, 1, over)]))).to.deep.equal([[3, []]])
        const leftOut = member(3, 1, { kind: 'cancel' })
        expect(await carriedOn(waiting([member(3, 0, over), leftOut]))).to.deep.equal([[3, []]])
      })
    })

    it('offers a node that refuses what the chain asks for now, if that is more', async () => {
      const waiting = waitingOf([relay(3)], { refusal: { nonce: 3, sinceMs: 0, count: 2 } })
      expect(await replaced(waiting)).to.deep.equal([[3, 'call', 200n]])
      const same = { current: async () => offered } as unknown as FollowerOptions['fees']
      expect(await replaced(waiting, { fees: same })).to.deep.equal([])
      const tooMuch = {
        current: () => Promise.reject(new ServiceError('SIGNERS_UNAVAILABLE', 'above the ceiling')),
      } as unknown as FollowerOptions['fees']
      expect(await replaced(waiting, { fees: tooMuch })).to.deep.equal([])
    })

    it('notes a refusal of what is next on the chain, and of nothing behind it', async () => {
      await replaced(waitingOf([relay(3), relay(4)], { knownNonce: 5 }), {}, false)
      expect(await refusalOf(database.db, account)).to.deep.equal({ nonce: 3, sinceMs: 1_000_000, count: 1 })
    })

    it('replaces at most 16 in one look', async () => {
      const relays = Array.from({ length: 20 }, (_, nonce) => relay(nonce))
      expect(await replaced(waitingOf(relays, { knownNonce: 20 }))).to.have.length(16)
    })
  })

  describe('sendMissing', () => {
    /** @returns the hashes that were offered to a node that takes so many of them */
    async function sent(waiting: Waiting, takes = Infinity) {
      const hashes: string[] = []
      const broadcaster: FollowerOptions['broadcaster'] = {
        send: async (transactions) => {
          hashes.push(...transactions.map(({ hash }) => hash))
          const taken = Math.min(takes, transactions.length)
          return { taken, isRefused: taken < transactions.length }
        },
      }
      await sendMissing(waiting, optionsOf({ broadcaster }))
      return hashes
    }

    it('sends what the node does not know and has had time for, in the order of the nonces', async () => {
      const relays = [relay(3), relay(4), relay(5)]
      expect(await sent(waitingOf(relays, { knownNonce: 4 }))).to.deep.equal(['0xhash4', '0xhash5'])
      expect(await sent(waitingOf(relays, { ageMs: () => 999 }))).to.deep.equal([])
    })

    it('does not send a call that is over, but the transaction that uses its nonce up', async () => {
      expect(await sent(waitingOf([relay(3, { expiresAt: 999n })]))).to.deep.equal([])
      expect(await sent(waitingOf([relay(3, { expiresAt: 999n, kind: 'cancel' })]))).to.deep.equal(['0xhash3'])
    })

    it('sends a bundle once, until all that it carries is over', async () => {
      const members = [0, 1].map((place) => relay(3, { hash: `0xhash3/${place}`, place }))
      expect(await sent(waitingOf(members))).to.deep.equal(['0xhash3'])
      const over = members.map((one) => ({ ...one, expiresAt: 999n }))
      expect(await sent(waitingOf([over[0]!, members[1]!]))).to.deep.equal(['0xhash3'])
      expect(await sent(waitingOf(over))).to.deep.equal([])
    })

    it('sends again what was refused, though the node counts it', async () => {
      const refusal = { nonce: 3, sinceMs: 0, count: 1 }
      expect(await sent(waitingOf([relay(3)], { knownNonce: 9, refusal }))).to.deep.equal(['0xhash3'])
    })

    it('notes that the next transaction is refused, and forgets it when a node takes it', async () => {
      await sent(waitingOf([relay(3)]), 0)
      const refusal = await refusalOf(database.db, account)
      expect(refusal).to.deep.equal({ nonce: 3, sinceMs: 1_000_000, count: 1 })
      await sent(waitingOf([relay(3)], { refusal }))
      expect(await refusalOf(database.db, account)).to.equal(undefined)
    })

    it('notes nothing of what lies behind the next transaction', async () => {
      await noteRefusal(database.db, account, 3, 5)
      await sent(waitingOf([relay(4)], { chainNonce: 3 }), 0)
      expect(await refusalOf(database.db, account)).to.deep.equal({ nonce: 3, sinceMs: 5, count: 1 })
    })
  })

  it('leave a call whose nonce was used otherwise to a process that has the key, and give it up after a minute', async () => {
    let nowMs = 0
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
    const options = optionsOf({ clock, lostAfterMs: 5_000, signerOf: () => undefined })
    const { replaceLost } = createRepairs({ ...options, ages: createAges(clock) })
    const lost = [relay(3)]
    for (nowMs of [0, 10_000, 59_999]) expect(await replaceLost(account, lost, 4), `${nowMs} ms`).to.deep.equal([])
    nowMs = 60_000
    expect(await replaceLost(account, lost, 4)).to.deep.equal(lost)
  })
})
