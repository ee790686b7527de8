import { expect } from 'chai'
import { run } from '../doctor-cli.ts'
import { withProxy } from './support/with-proxy.ts'
import { serve } from './support/serve.ts'

async function doctor(...args: readonly string[]) {
  const written = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) })
  const code = await run(args, { stdout: stream('stdout'), stderr: stream('stderr') })
  return { code, ...written }
}

interface Habits {
  readonly base?: string
  readonly aheadSeconds?: number
  readonly cors?: boolean
  readonly isNode?: boolean
}

/** A service of chain 5 below a path. */
const service = ({ base = '', aheadSeconds = 0, cors = true, isNode = false }: Habits = {}) =>
  serve((request, response) => {
    response.setHeader('date', new Date(Date.now() + aheadSeconds * 1000).toUTCString())
    if (cors) response.setHeader('access-control-allow-origin', '*')
    const isRpc = isNode || request.url === `${base}/api/eth-rpc`
    if (!isRpc && request.url !== `${base}/quota`) response.statusCode = 404
    else if (!isRpc) response.statusCode = 400
    response.end(isRpc ? '{"jsonrpc":"2.0","id":1,"result":"0x5"}' : '{}')
  })

describe('the command doctor', () => {
  it('finds nothing in the way of a run against a service that is well, and spends nothing', async () => {
    await using server = await service()
    const { code, stdout } = await doctor(server.url, '--rpc-url', `${server.url}/api/eth-rpc`)
    expect(code, stdout).to.equal(0)
    expect(stdout.match(/^✓/gm), stdout).to.have.length(6)
    expect(stdout).to.include('chain      5, as http')
    expect(server.requests.map(({ path }) => path)).to.not.include('/execute')
  })

  it('names the base URL that was meant', async () => {
    await using server = await service({ base: '/api' })
    const { code, stdout } = await doctor(server.url)
    expect(code).to.equal(1)
    expect(stdout).to.include(`nothing answers at POST /quota and POST /api/eth-rpc; did you mean ${server.url}/api?`)
    const endpoint = await doctor(`${server.url}/api/execute`)
    expect(endpoint.stdout).to.include(`did you mean ${server.url}/api?`)
  })

  it('tells a node of the chain from a relay', async () => {
    await using server = await service({ isNode: true })
    const { code, stdout } = await doctor(server.url)
    expect(code).to.equal(1)
    expect(stdout).to.include('a node of the chain, not a relay')
  })

  it('names a clock that is off, pages that may not ask, and another chain', async () => {
    await using server = await service({ aheadSeconds: 30, cors: false })
    await using node = await serve((_request, response) => response.end('{"jsonrpc":"2.0","id":1,"result":"0x6"}'))
    const { code, stdout } = await doctor(server.url, '--rpc-url', node.url)
    expect(code).to.equal(1)
    expect(stdout).to.match(/✗ clock +(29|30|31) s ahead/)
    expect(stdout).to.match(/! cors +browsers let no page of another origin/)
    expect(stdout).to.match(/✗ chain +5, but http\S+ is of chain 6/)
  })

  it('says that nobody is there, and that a URL is none', async () => {
    const nobody = await doctor('http://127.0.0.1:1')
    expect(nobody).to.include({
      code: 1,
      stdout: '✗ reachable  http://127.0.0.1:1/quota: the connection was refused\n',
    })
    await withProxy(async () => {
      expect((await doctor('http://0.0.0.0:1')).stdout).to.include('the connection was refused (no proxy is used')
    })
    for (const args of [
      ['localhost:3000'],
      [],
      ['http://127.0.0.1:1', '--header', 'nothing'],
      ['http://127.0.0.1:1', '--rpc-url', 'node.example'],
    ]) {
      const { code, stderr } = await doctor(...args)
      expect(code, args.join()).to.equal(2)
      expect(stderr.trim().split('\n')).to.have.length(1)
    }
  })
})
