import { expect } from 'chai'
import { type Upstream, budgetUpstream } from '../../../services/node/upstream.ts'
import { createUpstream } from '../../../services/node/create-upstream.ts'
import { startFakeNode, type FakeNode } from '../../support/fake-node.ts'
import { until } from '../../support/until.ts'

describe('budgetUpstream', () => {
  let node: FakeNode
  let upstream: Upstream
  let released: PromiseWithResolvers<void>

  before(async () => {
    released = Promise.withResolvers<void>()
    node = await startFakeNode({
      eth_getBalance: () => released.promise.then(() => '0x1'),
      eth_gasPrice: () => '0x7',
      eth_sendRawTransaction: () => '0x2',
      eth_call: () => {
        throw new Error('refused')
      },
    })
    upstream = budgetUpstream(createUpstream({ rpcUrls: [node.url] }), 2)
  })
  after(async () => {
    await upstream?.close()
    await node?.close()
  })

  const outcome = (method: string) =>
    upstream.request(method, []).catch((error: unknown) => (error as { code?: unknown }).code)

  it('refuses what is beyond it at once, and serves again when there is room', async () => {
    const slow = [outcome('eth_getBalance'), outcome('eth_getBalance')]
    await until(() => node.calls('eth_getBalance').length === 2)
    expect(await outcome('eth_gasPrice')).to.equal('UPSTREAM_UNAVAILABLE')
    expect(node.calls('eth_gasPrice')).to.deep.equal([])
    expect(await outcome('eth_sendRawTransaction'), 'what is stored is sent').to.equal('0x2')
    released.resolve()
    expect(await Promise.all(slow)).to.deep.equal(['0x1', '0x1'])
    expect(await outcome('eth_gasPrice')).to.equal('0x7')
  })

  it('counts calls that fail no longer than they take', async () => {
    for (let count = 0; count < 5; count++) expect(await outcome('eth_call')).to.equal(-32000)
    expect(await outcome('eth_gasPrice')).to.equal('0x7')
  })
})
