import { expect } from 'chai'
import { check } from '../../index.ts'
import { isSecret, redactBody, redactHeaders, redactUrl, withoutSecrets } from '../../lib/redact.ts'
import { reportRenderers } from '../../lib/report/files.ts'
import { sampleFixture } from '../support/samples.ts'
import { serve } from '../support/serve.ts'

describe('redaction', () => {
  const signature = `0x${'ab'.repeat(65)}`

  it('shortens signatures, so that none can be used again, and keeps their length', () => {
    for (const body of [
      `{"signature":"${signature}"}`,
      `{ "signature" : [ "${signature}" ] }`,
      `{"signature":"${signature}", broken`,
    ]) {
      expect(redactBody(body)).to.not.include(signature)
      expect(redactBody(body)).to.include('(65 bytes, shortened)')
    }
  })

  it('leaves hashes and everything else', () => {
    const body = `{"transactionHash":"0x${'cd'.repeat(32)}","signature":12}`
    expect(redactBody(body)).to.equal(body)
  })

  it('hides credentials in headers and URLs', () => {
    expect(redactHeaders({ Authorization: 'Bearer x', date: 'today' })).to.deep.equal({
      Authorization: '(redacted)',
      date: 'today',
    })
    expect(redactUrl('https://user:word@relay.example/v1?key=abc')).to.equal('https://relay.example/v1?key=redacted')
  })

  it('takes no short word and no media type for a secret', () => {
    for (const text of ['1234567', 'application/json', 'text/*']) expect(isSecret(text), text).to.equal(false)
    for (const text of ['12345678', 'word/word of mine', 'Bearer abc']) expect(isSecret(text), text).to.equal(true)
  })

  it('takes texts out of every part of a value, and nothing else', () => {
    const value = { a: ['x SeCret+ y', 1, null], b: { c: 'secret+' }, d: true, e: undefined }
    expect(withoutSecrets(value, ['secret+'])).to.deep.equal({
      a: ['x (redacted) y', 1, null],
      b: { c: '(redacted)' },
      d: true,
      e: undefined,
    })
    expect(withoutSecrets(value, [])).to.equal(value)
  })

  describe('of private keys', () => {
    const hex = `${'0123456789abcdef'.repeat(3)}fedcba9876543210`
    const bytes = Buffer.from(hex, 'hex')
    const without = (text: string) => withoutSecrets({ a: [text] }, [], [`0x${hex}`]).a[0]

    it('knows them in hex, base64 and decimal', () => {
      const spellings = [hex, hex.toUpperCase(), bytes.toString('base64'), bytes.toString('base64url')]
      for (const text of [...spellings, String(BigInt(`0x${hex}`))]) {
        expect(without(`key ${text}.`), text).to.match(/^key \(redacted\)=?\.$/)
      }
      const hash = `0x${'ab'.repeat(32)}`
      expect(without(hash)).to.equal(hash)
    })

    it('knows either end of one, where the text was cut', () => {
      expect(without(`x ${hex.slice(0, 63)}`)).to.equal('x (redacted)')
      expect(without(`${hex.slice(1)} y`)).to.equal('(redacted) y')
    })

    it('holds in every report of a target that echoes them, also where a long body is cut', async () => {
      const keys = Object.values(sampleFixture.controllers).map(({ privateKey }) => privateKey)
      let answers = 0
      await using server = await serve((_request, response) => {
        response.setHeader('x-echo', keys.join(' '))
        // The report keeps 20,000 characters of a body, and so a varying part of the last key.
        const head = JSON.stringify({ jsonrpc: '2.0', id: 1, result: keys[0], quota: keys[1], keys, padding: '' })
        response.end(`${head.slice(0, -2).padEnd(19_930 + (++answers % 40), 'x')}${keys[0]}"}`)
      })
      const fixture = { ...sampleFixture, chain: { ...sampleFixture.chain, rpcUrl: 'http://127.0.0.1:1' } }
      const report = await check({ relayUrl: server.url, fixture, only: 'eth-rpc.eth_,relay.quota' })
      expect(report.verdict).to.equal('nonconformant')
      for (const render of Object.values(reportRenderers)) {
        const text = render(report).toLowerCase()
        expect(text).to.contain('(redacted)')
        for (const key of keys) {
          expect(text).to.not.contain(key.slice(2, 26).toLowerCase()).and.not.contain(key.slice(-24).toLowerCase())
        }
      }
    })
  })
})
