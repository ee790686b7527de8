import { expect } from 'chai'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { unusedPort } from '../processes.ts'

describe('unusedPort', () => {
  it('finds one where a program can listen, and which the system gives to no other', async function () {
    const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').catch(() => undefined)
    if (range === undefined) return this.skip()
    const port = await unusedPort()
    expect(port).to.be.below(Number.parseInt(range, 10))
    const server = createServer().listen(port, '127.0.0.1')
    await once(server, 'listening')
    server.close()
  })
})
