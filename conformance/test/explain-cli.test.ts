import { expect } from 'chai'
import { clauses } from '../../specs/index.ts'
import { run } from '../explain-cli.ts'

async function explain(...args: readonly string[]) {
  const written = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) })
  const code = await run(args, { stdout: stream('stdout'), stderr: stream('stderr') })
  return { code, ...written }
}

describe('the command explain', () => {
  it('tells the sentence, the checks, and servers that fail and pass', async () => {
    const { code, stdout } = await explain('relay.quota.unit')
    expect(code).to.equal(0)
    for (const part of ['required, section 2', 'unit is one of three', 'unit is none of the three', 'counts-lyx']) {
      expect(stdout).to.include(part)
    }
    expect(stdout).to.include('--only relay.quota.unit')
  })

  it('explains every clause', async () => {
    for (const id of Object.keys(clauses)) {
      const { code, stdout } = await explain(id)
      expect(code, id).to.equal(0)
      expect(stdout, id).to.match(/How it is checked|No check:/)
    }
  })

  it('names clauses that are alike when there is none of the name', async () => {
    expect((await explain('relay.quota.uni')).stderr).to.include('there are relay.quota.unit')
    for (const args of [['relay.nothing'], [], ['a', 'b'], ['--what']]) {
      const { code, stderr } = await explain(...args)
      expect(code).to.equal(2)
      expect(stderr.trim().split('\n')).to.have.length(1)
    }
  })
})
