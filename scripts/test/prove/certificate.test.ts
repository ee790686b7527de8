import { expect } from 'chai'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Agent, request } from 'undici'
import { selfSigned } from '../../prove/certificate.ts'

describe('a certificate of one’s own', () => {
  it('is trusted by who is told, by each of its addresses, and by nobody else', async () => {
    const { key, cert } = selfSigned()
    const server = createServer({ key, cert }, (_incoming, outgoing) => outgoing.end('here')).listen(0, '::')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const trusting = new Agent({ connect: { ca: cert } })
    try {
      for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
        const { body } = await request(`https://${host}:${port}/`, { dispatcher: trusting })
        expect(await body.text()).to.equal('here')
      }
      const stranger = await request(`https://127.0.0.1:${port}/`).catch((error: { code?: string }) => error.code)
      expect(stranger).to.equal('DEPTH_ZERO_SELF_SIGNED_CERT')
    } finally {
      await trusting.close()
      server.close()
    }
  })
})
