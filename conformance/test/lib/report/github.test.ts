import { expect } from 'chai'
import { renderGithub } from '../../../lib/report/github.ts'
import { clauseOf, failed, passed, reportOf, sampleReport } from './sample-report.ts'

describe('renderGithub', () => {
  it('annotates each failure that is not expected, the required ones first and as errors', () => {
    const heads = renderGithub(sampleReport).match(/^::\w+ title=[^:]*/gm)
    expect(heads).to.deep.equal([
      '::error title=eth-rpc.eth_getLogs.max-1000',
      '::warning title=eth-rpc.response.error-codes',
    ])
    expect(renderGithub(reportOf([clauseOf('relay.quota.unit', passed)]))).to.equal('')
  })

  it('lets no target write a command of its own', () => {
    const error = { message: 'a\r\n::add-mask::b\r::c\u001b[2J 100%0A', expected: '\n::error::d' }
    const text = renderGithub(reportOf([clauseOf('relay.quota.unit', { ...failed, error })]))
    expect(text.trimEnd().split(/[\r\n]/)).to.have.length(1)
    expect(text).to.contain('%0A::add-mask::b').and.to.contain('100%250A').and.not.contain('\u001b')
  })

  it('says why nothing could be judged', () => {
    const report = reportOf([], { verdict: 'error', notes: ['every answer is HTTP 404'] })
    expect(renderGithub(report)).to.match(/^::error title=No judgement::.*every answer is HTTP 404/)
  })
})
