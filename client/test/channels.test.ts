import { expect } from 'chai'
import { createChannels } from '../channels.ts'

describe('channels', () => {
  const chain = () => {
    const nonces = new Map<bigint, bigint>()
    return { nonces, read: (channel: bigint) => Promise.resolve(nonces.get(channel) ?? channel << 128n) }
  }

  it('leave a channel alone whose last call is not mined', async () => {
    const { nonces, read } = chain()
    const channels = createChannels(read)
    const first = await channels.free()
    first.release(first.nonce + 1n)
    const second = await channels.free()
    expect(second.channel).not.to.equal(first.channel)
    second.release(second.nonce + 1n)
    nonces.set(first.channel, first.nonce + 1n)
    expect(await channels.free()).to.include({ channel: first.channel, nonce: first.nonce + 1n })
  })

  it('are used again though the call of another one is never mined', async () => {
    const { nonces, read } = chain()
    const channels = createChannels(read)
    const lost = await channels.free()
    lost.release(lost.nonce + 1n)
    const mined = await channels.free()
    mined.release(mined.nonce + 1n)
    nonces.set(mined.channel, mined.nonce + 1n)
    const next = [await channels.free(), await channels.free()].map(({ channel }) => channel)
    expect(next).to.include(mined.channel).and.not.to.include(lost.channel)
  })

  it('leave a channel alone whose last call was not accepted', async () => {
    const channels = createChannels(chain().read)
    const first = await channels.free()
    first.release()
    expect((await channels.free()).channel).not.to.equal(first.channel)
  })

  it('count on in an order before the calls are mined', async () => {
    const channels = createChannels(chain().read)
    const first = await channels.inTurn('a')
    const waiting = channels.inTurn('a')
    first.release(first.nonce + 1n)
    const second = await waiting
    expect(second).to.include({ channel: first.channel, nonce: first.nonce + 1n })
    second.release()
    expect(await channels.inTurn('a'), 'the chain is asked after a failure').to.include({ nonce: first.nonce })
  })

  it('serve an order on after the node has failed', async () => {
    let fails = true
    const channels = createChannels((channel) =>
      fails ? Promise.reject(new Error('down')) : Promise.resolve(channel << 128n),
    )
    const failure = await channels.inTurn('a').catch((error: unknown) => error)
    expect(failure).to.include({ message: 'down' })
    fails = false
    expect((await channels.inTurn('a')).nonce > 0n).to.equal(true)
  })

  it('have numbers of at most 128 bits', async () => {
    const channels = createChannels(chain().read, 2n ** 96n - 1n)
    expect((await channels.free()).channel < 2n ** 128n).to.equal(true)
  })
})
