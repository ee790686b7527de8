import { expect } from 'chai'
import { errorCatalogue } from '../../specs/index.ts'
import { refusalOf } from '../post.ts'
import { isRelayError, knownCodes, RelayError } from '../relay-error.ts'

const answer = (text: string, headers: Record<string, string> = {}) => ({
  status: 429,
  headers: new Headers(headers),
  text,
})

describe('a relay error', () => {
  it('has every code of the catalogue that a relay answers, and no other', () => {
    const told = Object.entries(errorCatalogue).filter(([, { status }]) => status !== undefined)
    expect(knownCodes).to.have.members(told.map(([code]) => code))
    for (const [code, { endpoints }] of Object.entries(errorCatalogue)) {
      if (endpoints.some((endpoint) => endpoint !== '/api/eth-rpc')) expect(knownCodes, code).to.include(code)
    }
  })

  it('is what the reference server answers', () => {
    const body = { code: 'QUOTA_EXCEEDED', message: 'none left', details: { available: '7' }, broadcast: false }
    const error = refusalOf(answer(JSON.stringify(body), { 'retry-after': '60' }))
    expect(error).to.include({ message: 'none left', status: 429, broadcast: false, retryAfterSeconds: 60 })
    if (!isRelayError(error, 'QUOTA_EXCEEDED')) throw new Error('another code')
    expect(error.details.available).to.equal('7')
    expect(isRelayError(error)).to.equal(true)
    expect(isRelayError(error, 'RATE_LIMITED')).to.equal(false)
  })

  for (const [name, text, broadcast] of [
    ['plain text', 'Failed to execute', undefined],
    ['nothing', '', undefined],
    ['a page', '<html>504</html>', undefined],
    ['another form', '{"error":{"message":"no"}}', undefined],
    ['a code that is not in the catalogue', '{"code":"toString","message":"no","broadcast":false}', false],
    ['a list', '[]', undefined],
    ['broadcast in words', '{"code":"OTHER","broadcast":"false"}', undefined],
  ] as const) {
    it(`is UNKNOWN for ${name}, with the text`, () => {
      const error = refusalOf(answer(text))
      expect(error).to.be.instanceOf(RelayError).and.to.include({ code: 'UNKNOWN', status: 429, broadcast })
      expect(error.details).to.deep.equal({ text })
    })
  }

  it('reads Retry-After as a date by the clock of the server', () => {
    const headers = { date: 'Mon, 01 Jan 2001 00:00:00 GMT', 'retry-after': 'Mon, 01 Jan 2001 00:00:30 GMT' }
    expect(refusalOf(answer('', headers)).retryAfterSeconds).to.equal(30)
    expect(refusalOf(answer('', { ...headers, 'retry-after': 'soon' })).retryAfterSeconds).to.equal(undefined)
  })
})
