import { expect } from 'chai'
import { Wallet } from 'ethers'
import { pino } from 'pino'
import { openDatabase, type Database } from '../../../services/database/database.ts'
import { createAges } from '../../../services/follower/look.ts'
import { createDeepReorganisations } from '../../../services/follower/reorganisations.ts'
import type { Unsent } from '../../../services/ledger/signer-accounts.ts'
import { signerFromKey } from '../../../services/signers/signers.ts'

const clock = { nowMs: () => 0, monotonicMs: () => 0 }
const fees = { type: 2, maxFeePerGas: 10n, maxPriorityFeePerGas: 1n } as const

describe('a nonce that the chain has lost', () => {
  const signer = signerFromKey(Wallet.createRandom().privateKey)
  const account = signer.address
  let database: Database
  let sent: Unsent[]

  before(async () => {
    database = await openDatabase({ url: null, folder: null, schema: 'touchstone_1', poolSize: 1 })
  })
  after(() => database.close())
  beforeEach(async () => {
    sent = []
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
  function look(firstOpen: number): Promise<boolean> {
    const { look } = createDeepReorganisations({
      chainId: 1n,
      clock,
      database,
      upstream: { request: async <Result>() => '0x5' as Result, close: async () => {} },
      broadcaster: {
        send: async (transactions) => {
          sent.push(...transactions)
          return { taken: transactions.length, isRefused: false }
        },
      },
      fees: {
        current: async () => fees,
        recent: () => fees,
        raised: async () => fees,
        blockGasLimit: async () => null,
      },
      signerOf: () => signer,
      log: pino({ level: 'silent' }),
      lostAfterMs: 0,
      replaceAfterMs: 60_000,
      ages: createAges(clock),
    })
    return look(account, 5, firstOpen)
  }

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

  it('is used up, when it has no relay', async () => {
    await store(6, false)
    expect(await look(6)).to.equal(true)
    expect(sent).to.have.length(1)
  })
})
