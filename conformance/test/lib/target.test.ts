import { expect } from 'chai'
import { endpointsOf, normaliseTarget } from '../../lib/target.ts'
import { UsageError } from '../../lib/outcome.ts'

describe('the target', () => {
  it('keeps a prefix and a query, and takes a slash at the end', () => {
    const { execute, quota, rpc } = endpointsOf({
      relayUrl: 'https://r.example/v1/',
      ethRpcUrl: 'http://e.example?k=1',
    })
    expect(execute.url).to.equal('https://r.example/v1/execute')
    expect(quota.url).to.equal('https://r.example/v1/quota')
    expect(rpc.url).to.equal('http://e.example/api/eth-rpc?k=1')
  })

  it('has one spelling', () => {
    for (const relayUrl of ['http://r.example', 'http://r.example/', 'HTTP://R.example//']) {
      expect(normaliseTarget({ relayUrl, ethRpcUrl: null })).to.deep.equal({
        relayUrl: 'http://r.example',
        ethRpcUrl: null,
      })
    }
  })

  it('is an http or https URL', () => {
    for (const [relayUrl, says] of [
      ['localhost:3000', '"localhost:3000" is no http or https URL; did you mean http://localhost:3000?'],
      ['r.example:3000', '"r.example:3000" is no http or https URL; did you mean http://r.example:3000?'],
      ['r.example/v1', '"r.example/v1" is no URL; did you mean https://r.example/v1?'],
      ['ftp://r.example', '"ftp://r.example" is no http or https URL'],
      ['r', '"r" is no URL'],
    ] as const) {
      expect(() => normaliseTarget({ relayUrl, ethRpcUrl: null }), relayUrl).to.throw(UsageError, says)
    }
  })
})
