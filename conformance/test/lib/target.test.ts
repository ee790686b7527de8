import { expect } from 'chai'
import { UsageError } from '../../lib/outcome.ts'
import { createTargetClock } from '../../lib/target-clock.ts'
import { endpointsOf, normaliseTarget } from '../../lib/target.ts'

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
      ['http://me:secret@r.example:99999', '"http://(redacted)@r.example:99999" is no URL'],
      ['http://me:sec/ret@r.example', '"http://(redacted)@r.example" is no URL'],
      [
        'me:secret@r.example',
        '"(redacted)@r.example" is no http or https URL; did you mean http://(redacted)@r.example?',
      ],
    ] as const) {
      const parse = () => normaliseTarget({ relayUrl, ethRpcUrl: null })
      expect(parse, relayUrl).to.throw(UsageError).with.property('message', says)
    }
  })
})

describe('the target’s clock', () => {
  /** The Date header of a target whose clock is ahead by this many ms. */
  const dateAt = (ourMs: number, aheadMs: number): string =>
    new Date(Math.floor((ourMs + aheadMs) / 1000) * 1000).toUTCString()
  const begin = Date.UTC(2026, 0, 1)

  it('is ours until a Date header is seen', () => {
    const clock = createTargetClock()
    clock.see(undefined, begin, begin)
    clock.see('yesterday', begin, begin)
    expect(clock.measuredBy).to.equal(null)
    expect(clock.now()).to.be.closeTo(Date.now() / 1000, 1.5)
  })

  it('is known better than the header’s second after several answers', () => {
    const clock = createTargetClock()
    for (let at = begin; at < begin + 5000; at += 130) clock.see(dateAt(at, 7400), at, at + 20)
    expect(clock.offsetSeconds).to.be.closeTo(7.4, 0.15)
    expect(clock.measuredBy).to.equal('date header')
  })

  it('follows a clock that was set', () => {
    const clock = createTargetClock()
    clock.see(dateAt(begin, 0), begin, begin)
    clock.see(dateAt(begin, 60_000), begin, begin)
    expect(clock.offsetSeconds).to.be.closeTo(60, 0.6)
  })
})
