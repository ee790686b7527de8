import { expect } from 'chai'
import { redactBody, redactHeaders, redactUrl } from '../../lib/redact.ts'

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
})
