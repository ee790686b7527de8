import { expect } from 'chai'
import { unusedProxy } from '../../lib/unused-proxy.ts'

describe('the proxy of the environment', () => {
  const NAMES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']
  let before: NodeJS.ProcessEnv

  beforeEach(() => {
    before = { ...process.env }
    for (const name of NAMES) delete process.env[name]
  })
  afterEach(() => {
    process.env = before
  })

  for (const name of NAMES) {
    it(`is named where a host does not answer: ${name}`, () => {
      expect(unusedProxy('https://relay.example')).to.equal('')
      process.env[name] = ''
      expect(unusedProxy('https://relay.example')).to.equal('')
      process.env[name] = 'http://proxy.example:3128'
      expect(unusedProxy('https://relay.example')).to.equal(
        ` (no proxy is used, though ${name} names one: run this where the host can be reached directly)`,
      )
    })
  }

  it('has nothing to do with a host that is near', () => {
    process.env['HTTP_PROXY'] = 'http://proxy.example:3128'
    for (const host of ['localhost:3000', '127.0.0.1', '127.0.0.2:1', '[::1]:3000', '10.0.0.7', '192.168.1.1']) {
      expect(unusedProxy(`http://${host}/relay`), host).to.equal('')
    }
  })
})
