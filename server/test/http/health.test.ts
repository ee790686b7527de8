import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApp } from '../../app.ts'
import { createReadinessLook, healthRoutes } from '../../http/health.ts'
import { silent } from '../support/rpc-server.ts'

describe('healthRoutes', () => {
  let server: Server
  /** What the only check does. */
  let check: () => Promise<void | 'degraded'>
  let isDraining: boolean
  let looks: number

  beforeEach(async () => {
    isDraining = false
    looks = 0
    check = async () => {}
    const look = createReadinessLook([{ name: 'node', check: () => (looks++, check()) }])
    const routes = healthRoutes(look, () => isDraining)
    const admit = () => Promise.reject(new Error('counted'))
    const handle = createApp({ routes, log: silent, admit, basePaths: ['/relay'] }).callback()
    server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterEach(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })

  const get = (path: string) => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)

  async function readiness(): Promise<object> {
    const response = await get('/readyz')
    return { status: response.status, ...((await response.json()) as object) }
  }

  it('are below the base path, and at the root as well, where probes look; nobody counts them', async () => {
    for (const path of ['/healthz', '/readyz', '/relay/healthz', '/relay/readyz']) {
      expect((await get(path)).status, path).to.equal(200)
    }
  })

  it('is ready when every check passes', async () => {
    expect(await readiness()).to.deep.equal({ status: 200, ready: true, checks: { node: 'ok' } })
  })

  it('is ready with a part of what it needs', async () => {
    check = async () => 'degraded'
    expect(await readiness()).to.deep.equal({ status: 200, ready: true, checks: { node: 'degraded' } })
  })

  it('is not ready when a check fails', async () => {
    check = () => Promise.reject(new Error('down'))
    expect(await readiness()).to.deep.equal({ status: 503, ready: false, checks: { node: 'failed' } })
  })

  it('checks nothing while it drains', async () => {
    isDraining = true
    expect(await readiness()).to.deep.equal({ status: 503, ready: false, draining: true, checks: {} })
    expect(looks).to.equal(0)
  })

  it('says that it drains though the check began before', async () => {
    const begun = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    check = () => (begun.resolve(), released.promise)
    const answer = readiness()
    await begun.promise
    isDraining = true
    released.resolve()
    expect(await answer).to.deep.equal({ status: 503, ready: false, draining: true, checks: {} })
  })
})
