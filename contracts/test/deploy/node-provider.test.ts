import { expect } from 'chai'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { NodeProvider } from '../../deploy/node-provider.ts'

/** Asks a node that answers this. */
async function ask(answer: (ids: number[]) => string, methods = ['eth_chainId'], status = 200): Promise<unknown[]> {
  const node = createServer((request, response) => {
    void text(request).then((body) => {
      const calls = [JSON.parse(body) as { id: number } | { id: number }[]].flat()
      response.writeHead(status, { 'content-type': 'application/json' }).end(answer(calls.map(({ id }) => id)))
    })
  }).listen(0, '127.0.0.1')
  await once(node, 'listening')
  const { port } = node.address() as AddressInfo
  const provider = new NodeProvider(`http://127.0.0.1:${port}`, 1, { staticNetwork: true })
  try {
    return await Promise.all<unknown>(methods.map((method) => provider.send(method, [])))
  } finally {
    provider.destroy()
    node.close()
    node.closeAllConnections()
  }
}

const messageOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'nothing is wrong',
    (error: Error) => error.message,
  )

describe('NodeProvider', () => {
  it('reads one answer, and those of a batch in any order', async () => {
    expect(await ask(([id]) => `{"jsonrpc":"2.0","id":${id},"result":"grün €"}`)).to.deep.equal(['grün €'])
    const backwards = (ids: number[]) =>
      JSON.stringify(ids.toReversed().map((id) => ({ jsonrpc: '2.0', id, result: String(id) })))
    const [first, second] = await ask(backwards, ['eth_chainId', 'eth_blockNumber'])
    expect(Number(second)).to.equal(Number(first) + 1)
  })

  it('says what the node refuses, and what is no answer', async () => {
    const refusal = ([id]: number[]) => `{"jsonrpc":"2.0","id":${id},"error":{"code":-32000,"message":"not now"}}`
    expect(await messageOf(ask(refusal))).to.include('not now')
    expect(await messageOf(ask(() => '<html>'))).to.include('not valid JSON')
    expect(await messageOf(ask(() => '{}', undefined, 503))).to.include('503')
  })
})
