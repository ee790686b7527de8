import { expect } from 'chai'
import type { RelayCall } from '../../../core/define.ts'
import type { ChannelPlace } from '../../../services/ledger/lookup.ts'
import { createChannelSenders } from '../../../services/relayer/channel-senders.ts'

const keyManager = '0x2222222222222222222222222222222222222222'
const signer = '0x3333333333333333333333333333333333333333'

const callOf = (nonce: bigint) => ({ keyManager, signer, nonce }) as RelayCall

/** The senders of an own ledger, in which `stored` has sent every call. */
function createWorld({ accounts = ['0xa', '0xb'], stored }: { accounts?: readonly string[]; stored?: string } = {}) {
  const asked: bigint[] = []
  const clock = { nowMs: () => 0, ms: 0, monotonicMs: () => clock.ms }
  const senders = createChannelSenders({
    sendersBefore: async (places: readonly ChannelPlace[]) => {
      asked.push(...places.map(({ nonce }) => nonce))
      return places.map(() => stored)
    },
    accounts: new Set(accounts),
    clock,
  })
  return { senders, asked, clock }
}

describe('senders of channels', () => {
  it('remember who has sent the call before, for five seconds', async () => {
    const { senders, asked, clock } = createWorld({ stored: '0xb' })
    senders.keep(callOf(6n), '0xa')
    clock.ms = 5_000
    expect(await senders.before([callOf(7n)])).to.equal('0xa')
    expect(asked).to.be.empty
    clock.ms = 5_001
    expect(await senders.before([callOf(7n)])).to.equal('0xb')
    expect(asked).to.deep.equal([7n])
  })

  it('ask the ledger about a call behind one that somebody else has sent', async () => {
    const { senders, asked } = createWorld({ stored: '0xb' })
    senders.keep(callOf(6n), '0xa')
    expect(await senders.before([callOf(8n)])).to.equal('0xb')
    expect(asked).to.deep.equal([8n])
  })

  it('leave the choice open where the ledger knows no sender, or one that is no account of this process', async () => {
    expect(await createWorld().senders.before([callOf(7n)])).to.equal(undefined)
    expect(await createWorld({ stored: '0xc' }).senders.before([callOf(7n)])).to.equal(undefined)
  })

  it('ask nobody about the first call of a channel', async () => {
    const { senders, asked } = createWorld({ stored: '0xb' })
    expect(await senders.before([callOf(9n << 128n)])).to.equal(undefined)
    expect(asked).to.be.empty
  })

  it('ask nobody where there is one account', async () => {
    const { senders, asked } = createWorld({ accounts: ['0xa'], stored: '0xa' })
    expect(await senders.before([callOf(7n)])).to.equal(undefined)
    expect(asked).to.be.empty
  })
})
