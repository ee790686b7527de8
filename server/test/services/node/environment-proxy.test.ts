import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, request as ask } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { aboutProxy } from '../../../services/node/environment-proxy.ts'
import { HttpNode } from '../../../services/node/http-node.ts'
import { NodeFailure } from '../../../services/node/node-connection.ts'
import { startFakeNode, type FakeNode } from '../../support/fake-node.ts'

const VARIABLES = [
  'NODE_USE_ENV_PROXY',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
]

/** Replaces what the environment says of proxies. @returns puts it back */
function setProxies(environment: Readonly<Record<string, string>>): () => void {
  const before = VARIABLES.map((name) => [name, process.env[name]] as const)
  for (const name of VARIABLES) delete process.env[name]
  Object.assign(process.env, environment)
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

/** A proxy of HTTP. It counts what it is asked for, and asks for a password where there is one. */
async function startProxy(password?: string): Promise<{ url: string; seen: string[]; close(): void }> {
  const seen: string[] = []
  const server = createServer((incoming, outgoing) => {
    seen.push(`${incoming.method} ${incoming.url}`)
    if (password !== undefined && incoming.headers['proxy-authorization'] !== password) {
      outgoing.writeHead(407).end()
      return
    }
    const { method, headers, url = '' } = incoming
    const onward = ask(url, { method: method ?? '', headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(onward)
  })
  server.on('connect', (incoming, socket) => {
    seen.push(`CONNECT ${incoming.url}`)
    if (password !== undefined && incoming.headers['proxy-authorization'] !== password) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
      return
    }
    const [host = '', port] = (incoming.url ?? '').split(':')
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    for (const end of [onward, socket]) end.on('error', () => onward.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, close }
}

describe('a node behind a proxy', () => {
  let node: FakeNode
  let proxy: Awaited<ReturnType<typeof startProxy>>
  /** A proxy that asks for a user and a password. */
  let closed: typeof proxy
  const opened: HttpNode[] = []
  let putBack: () => void

  beforeEach(async () => {
    node = await startFakeNode({ eth_chainId: () => '0x2a' })
    proxy = await startProxy()
    closed = await startProxy(`Basic ${btoa('me:hunter2')}`)
    putBack = setProxies({})
  })
  afterEach(async () => {
    putBack()
    await Promise.all(opened.splice(0).map((connection) => connection.close()))
    await node.close()
    proxy.close()
    closed.close()
  })

  /** Asks by a new connection. */
  async function chainId(environment: Readonly<Record<string, string>>, url = node.url): Promise<unknown> {
    setProxies(environment)
    const connection = new HttpNode(url)
    opened.push(connection)
    return connection.call('eth_chainId', [], 10_000)
  }
  const wanted = { NODE_USE_ENV_PROXY: '1' }

  it('is asked by the proxy that the environment names', async () => {
    expect(await chainId({ ...wanted, HTTP_PROXY: proxy.url })).to.equal('0x2a')
    expect(proxy.seen).to.deep.equal([`POST ${node.url}/`])
  })

  it('is known to be open when the proxy is', async () => {
    setProxies({ ...wanted, HTTP_PROXY: proxy.url })
    const connection = new HttpNode(node.url)
    opened.push(connection)
    const openings: boolean[] = []
    connection.onOpen = () => openings.push(connection.isOpen)
    expect(connection.isOpen).to.equal(false)
    await connection.call('eth_chainId', [], 10_000)
    expect(openings).to.deep.equal([true])
  })

  it('is reached directly when NO_PROXY names it, and when nobody wants the proxy', async () => {
    expect(await chainId({ ...wanted, HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' })).to.equal('0x2a')
    expect(await chainId({ HTTP_PROXY: proxy.url })).to.equal('0x2a')
    expect(proxy.seen).to.deep.equal([])
  })

  it('is asked for through a tunnel when its URL is one of https', async () => {
    const url = node.url.replace('http:', 'https:')
    const failure = await chainId({ ...wanted, HTTPS_PROXY: proxy.url }, url).catch((error: unknown) => error)
    // The fake node speaks no TLS.
    expect(failure).to.be.instanceOf(NodeFailure)
    expect(proxy.seen[0]).to.equal(`CONNECT ${new URL(node.url).host}`)
  })

  it('is asked with the user and the password of the proxy, and fails without them', async () => {
    expect(await chainId({ ...wanted, HTTP_PROXY: closed.url.replace('//', '//me:hunter2@') })).to.equal('0x2a')
    for (const [name, url] of [
      ['HTTP_PROXY', node.url],
      ['HTTPS_PROXY', node.url.replace('http:', 'https:')],
    ] as const) {
      const failure = await chainId({ ...wanted, [name]: closed.url }, url).catch((error: unknown) => error)
      expect(failure, name)
        .to.be.instanceOf(NodeFailure)
        .and.include({ message: 'the proxy answers HTTP 407', stage: 'unreached' })
    }
  })

  it('is said to be asked by a proxy, or not, where the environment names one', () => {
    const named = { HTTPS_PROXY: 'http://me:hunter2@proxy.example:3128' }
    expect(aboutProxy()).to.equal('')
    setProxies(named)
    expect(aboutProxy()).to.equal('; the proxy of HTTPS_PROXY is used with NODE_USE_ENV_PROXY=1')
    setProxies({ ...wanted, ...named })
    expect(aboutProxy()).to.equal('; asked by the proxy of HTTPS_PROXY')
  })
})
