import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { run as check } from '../cli.ts'
import { run } from '../reproduce-cli.ts'
import { skipWithout } from '../../testbed/test/support/skip.ts'
import { serve } from './support/serve.ts'

const silent = { write: () => {} }

async function reproduce(...args: readonly string[]) {
  const written = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) })
  const code = await run(args, { stdout: stream('stdout'), stderr: stream('stderr') })
  return { code, ...written }
}

describe('the command reproduce', () => {
  let folder: string
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'reproduce-'))))
  after(() => rm(folder, { recursive: true }))

  it('prints the requests of a clause so that a shell sends them again, whatever the target has answered', async function () {
    skipWithout('curl', this)
    await using server = await serve((_request, response) => {
      response.setHeader('content-type', 'application/json').end(`{"it's":"\u001b[31m\\n$(touch /tmp/never)"}`)
    })
    const report = join(folder, 'report.json')
    const id = 'eth-rpc.eth_gasPrice.success'
    await check(
      [server.url, '--only', `${id},eth-rpc.batch`, '--report', `json=${report}`],
      {},
      { stdout: silent, stderr: silent },
    )
    const { code, stdout } = await reproduce(report, id)
    expect(code).to.equal(0)
    expect(stdout).to.not.include('\u001b')
    expect(stdout.split('\n').every((line) => line === '' || /^(#|curl )/.test(line))).to.equal(true)

    const asked = stdout.match(/^curl /gm)?.length ?? 0
    expect(asked).to.be.greaterThan(0)
    const [before] = [server.requests.length]
    await promisify(execFile)('sh', ['-c', stdout])
    const again = server.requests.slice(before)
    expect(again).to.have.length(asked)
    expect(server.requests.slice(0, before).map(({ body }) => body)).to.include.members(again.map(({ body }) => body))
  })

  it('says in one line what is missing', async () => {
    for (const args of [[], ['none.json', 'relay.quota.unit'], ['--what']]) {
      const { code, stderr } = await reproduce(...args)
      expect(code).to.equal(2)
      expect(stderr.trim().split('\n')).to.have.length(1)
    }
  })
})
