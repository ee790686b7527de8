import { expect } from 'chai'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApp } from '../../../app.ts'
import { docsRoutes } from '../../../http/docs/routes.ts'
import { silent } from '../../support/rpc-server.ts'

describe('the documents that the viewer reads', () => {
  it('are made once for all who ask', async () => {
    const handle = createApp({ routes: docsRoutes(), log: silent }).callback()
    const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const cpuMs = async (requests: number) => {
      const before = process.cpuUsage()
      for (let request = 0; request < requests; request++) {
        const response = await fetch(`http://127.0.0.1:${port}/docs/openapi.json`)
        expect(await response.json()).to.have.nested.property('servers[0].url', '..')
      }
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1000
    }
    try {
      const first = await cpuMs(1)
      expect((await cpuMs(10)) / 10).to.be.lessThan(first / 3)
    } finally {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    }
  })
})
