import { expect } from 'chai'
import { parseOutput } from '../../../lib/report/files.ts'
import { UsageError } from '../../../lib/outcome.ts'

describe('parseOutput', () => {
  const formats = ['json', 'html'] as const

  it('reads format and path, whatever the path holds', () => {
    expect(parseOutput('html=out/a=b.html', formats)).to.deep.equal({ format: 'html', path: 'out/a=b.html' })
    expect(parseOutput('json=-', formats)).to.deep.equal({ format: 'json', path: '-' })
  })

  for (const argument of ['html', 'html=', 'pdf=a.pdf', '=a', '']) {
    it(`refuses "${argument}"`, () => {
      expect(() => parseOutput(argument, formats)).to.throw(UsageError)
    })
  }
})
