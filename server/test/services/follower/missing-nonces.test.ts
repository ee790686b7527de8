import { expect } from 'chai'
import { Transaction, Wallet } from 'ethers'
import { pino } from 'pino'
import { openDatabase, type Database } from '../../../services/database/database.ts'
import { createAges } from '../../../services/follower/look.ts'
import { createDeepReorganisations } from '../../../services/follower/reorganisations.ts'
import type { Unsent } from '../../../services/ledger/signer-accounts.ts'
import { signerFromKey } from '../../../services/signers/signers.ts'

const fees = { type: 2, maxFeePerGas: 10n, maxPriorityFeePerGas: 1n } as const
const raisedFees = { ...fees, maxFeePerGas: 20n }
const REPLACE_AFTER_MS = 60_000

describe('a nonce that the chain has lost', () => {
  const signer = signerFromKey(Wallet.createRandom().privateKey)
  const account = signer.address
  let database: Database
  let sent: Unsent[]
  let nowMs: number
  /** The node has transactions for the nonces below. */
  let pendingBelow: number
  let height: number
  let isOurs: boolean
  let reorganisations: ReturnType<typeof createDeepReorganisations>

  before(async () => {
    database = await openDatabase({ url: null, folder: null, schema: 'touchstone_1', poolSize: 1 })
  })
  after(() => database.close())
  beforeEach(async () => {
    ;[sent, nowMs, pendingBelow, height, isOurs] = [[], 0, 5, 1, true]
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
    reorganisations = createDeepReorganisations({
      chainId: 1n,
      clock,
      database,
      upstream: {
        request: async <Result>(method: string) =>
          `0x${(method === 'eth_blockNumber' ? height : pendingBelow).toString(16)}` as Result,
        close: async () => {},
      },
      broadcaster: {
        send: async (transactions) => {
          sent.push(...transactions)
          return { taken: transactions.length, isRefused: false }
        },
      },
      fees: {
        current: async () => fees,
        recent: () => fees,
        raised: async () => raisedFees,
        blockGasLimit: async () => null,
      },
      signerOf: () => (isOurs ? signer : undefined),
      log: pino({ level: 'silent' }),
      lostAfterMs: 0,
      replaceAfterMs: REPLACE_AFTER_MS,
      ages: createAges(clock),
    })
    await database.db.deleteFrom('relays').execute()
  })

  const store = (accountNonce: number, final: boolean) =>
    database.db
      .insertInto('relays')
      .values({
        hash: `0x${accountNonce}`,
        identity: `0x${accountNonce}`,
        profile: '0xf',
        key_manager: '0x1',
        signer: '0x2',
        nonce: String(accountNonce),
        status: 'succeeded',
        plan: 'default',
        period: 0,
        reserved: '1',
        charged: '1',
        gas_limit: 1,
        account,
        account_nonce: accountNonce,
        mined_hash: `0x${accountNonce}`,
        final,
        created_at_ms: 0,
      })
      .execute()

  /** Looks at the account, whose chain has used the nonces below 5. */
  const look = (firstOpen: number) => reorganisations.look(account, 5, firstOpen)
  const sentNonces = () => sent.map(({ raw }) => Transaction.from(raw).nonce)

  it('is followed again with its relay, when that is final', async () => {
    await store(5, true)
    await store(6, false)
    expect(await look(6)).to.equal(true)
    expect(sent).to.be.empty
    const { final } = await database.db
      .selectFrom('relays')
      .select('final')
      .where('account_nonce', '=', 5)
      .executeTakeFirstOrThrow()
    expect(final).to.equal(false)
  })

  it('is left to its relay, when somebody has opened that since the relays were read', async () => {
    await store(5, false)
    await store(6, false)
    expect(await look(6)).to.equal(true)
    expect(sent).to.be.empty
  })

  it('is used up, when it has no relay, with those behind it that no node has', async () => {
    await store(9, false)
    pendingBelow = 6
    expect(await look(9)).to.equal(true)
    expect(sentNonces()).to.deep.equal([6, 7, 8])
  })

  it('is offered more, after a time, when what uses it up is not mined, and those behind it are not', async () => {
    await store(7, false)
    await look(7)
    pendingBelow = 7
    nowMs += REPLACE_AFTER_MS - 1
    await look(7)
    expect(sentNonces()).to.deep.equal([5, 6])
    nowMs++
    await look(7)
    await look(7)
    expect(sentNonces()).to.deep.equal([5, 6, 5])
    expect(sent.map(({ raw }) => Transaction.from(raw).maxFeePerGas)).to.deep.equal([10n, 10n, 20n])
  })

  it('is offered more once while no block comes, and again when one has come', async () => {
    await store(6, false)
    const lookLater = () => {
      nowMs += REPLACE_AFTER_MS
      return look(6)
    }
    await look(6)
    pendingBelow = 6
    await lookLater()
    await lookLater()
    expect(sentNonces()).to.deep.equal([5, 5])
    height++
    await lookLater()
    expect(sentNonces()).to.deep.equal([5, 5, 5])
  })

  it('is left to a process that has the key of its account', async () => {
    await store(6, false)
    isOurs = false
    expect(await look(6)).to.equal(true)
    expect(sent).to.be.empty
  })
})
