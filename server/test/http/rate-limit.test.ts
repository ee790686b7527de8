import { expect } from 'chai'
import type { IncomingMessage } from 'node:http'
import { addressOf, clientAddress } from '../../http/rate-limit.ts'

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
