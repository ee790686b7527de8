import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApp } from '../../app.ts'
import { addressOf, clientAddress, countRequests } from '../../http/rate-limit.ts'
import { createRateLimits } from '../../services/rate-limits.ts'
import { silent } from '../support/rpc-server.ts'

describe('addressOf', () => {
  const sames: readonly [address: string, ...spellings: string[]][] = [
    ['192.0.2.1', '192.0.2.1:443', ' 192.0.2.1 ', '::ffff:192.0.2.1', '::FFFF:c000:201', '[::ffff:192.0.2.1]:80'],
    [
      '2001:db8:0:1::/64',
      '2001:db8:0:1::1',
      '2001:0DB8:0000:0001:ffff:ffff:ffff:ffff',
      '[2001:db8:0:1::2]',
      '[2001:db8:0:1::2]:65535',
      '2001:db8:0:1:0:0:1.2.3.4',
    ],
    ['fe80:0:0:0::/64', 'fe80::1%eth0', '[fe80::2%eth1]:1'],
    ['0:0:0:0::/64', '::1', '::', '::ffff:0:1.2.3.4'],
    ['1:2:3:4::/64', '1:2:3:4:5:6:7:8', '1:2:3:4::', '1:2:3:4:5::8'],
  ]
  for (const [address, ...spellings] of sames) {
    it(`takes ${spellings.length} spellings for ${address}`, () => {
      for (const spelling of spellings) expect(addressOf(spelling), spelling).to.equal(address)
    })
  }

  it('tells neighbours apart', () => {
    expect(addressOf('2001:db8:0:1::1')).to.not.equal(addressOf('2001:db8:0:2::1'))
    expect(addressOf('::ffff:192.0.2.1')).to.not.equal(addressOf('::ffff:192.0.2.2'))
  })

  it('knows what is no address', () => {
    const garbage = ['', 'unknown', '_hidden', '1.2.3', '1.2.3.4.5', '01.2.3.4', '1.2.3.4:', '1.2.3.4:x', '256.1.1.1']
    for (const text of [...garbage, '[::1', '::1]', ':::', '1:2', 'g::1', '"1.2.3.4"', '[1.2.3.4]x', 'a'.repeat(1e5)]) {
      expect(addressOf(text), text.slice(0, 20)).to.equal(undefined)
    }
  })
})

describe('clientAddress', () => {
  const from = (forwarded: string | undefined, trustedProxies: number) => {
    const request = {
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
      socket: { remoteAddress: '::ffff:10.0.0.1' },
    }
    return clientAddress(request as unknown as IncomingMessage, trustedProxies)
  }

  it('believes nobody where no proxy is trusted', () => {
    expect(from('192.0.2.1', 0)).to.equal('10.0.0.1')
    expect(from(undefined, 0)).to.equal('10.0.0.1')
  })

  it('believes the entry that the outermost trusted proxy wrote, and nothing in front of it', () => {
    expect(from('192.0.2.1', 1)).to.equal('192.0.2.1')
    expect(from('203.0.113.7, 192.0.2.1', 1)).to.equal('192.0.2.1')
    expect(from('203.0.113.7, 192.0.2.1:1234, 10.0.0.2', 2)).to.equal('192.0.2.1')
    expect(from('192.0.2.1', 2)).to.equal('192.0.2.1')
  })

  it('counts garbage as the proxy that let it through, so that it is no new address each time', () => {
    for (const garbage of ['unknown', '', 'a1', 'a2', '192.0.2.1, x', ',', '203.0.113.7, ', '<script>']) {
      expect(from(garbage, 1), garbage).to.equal('10.0.0.1')
    }
  })
})

describe('countRequests', () => {
  /** @returns the statuses of three requests, each in the name of another caller, where two a minute are allowed */
  async function statuses(trustedProxies: number): Promise<number[]> {
    const limits = await createRateLimits({ requestsPerMinute: 2, relaysPerMinute: 0 })
    const app = createApp({
      routes: [],
      log: silent,
      trustedProxies,
      admit: (ctx) => countRequests({ context: () => ctx }, limits),
    })
    const handle = app.callback()
    const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const answers: number[] = []
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) {
      answers.push((await fetch(url, { headers: { 'X-Forwarded-For': address } })).status)
    }
    server.closeAllConnections()
    server.close()
    await limits.close()
    return answers
  }

  it('believes no caller who names another address, where no proxy is trusted', async () => {
    expect(await statuses(0)).to.deep.equal([404, 404, 429])
  })

  it('counts for the address that a trusted proxy tells', async () => {
    expect(await statuses(1)).to.deep.equal([404, 404, 404])
  })
})
