import { expect } from 'chai'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSuiteRunners, type SuiteRunners } from '../../prove/run-suite.ts'
import { selfSigned } from '../../prove/certificate.ts'

describe('the runners of the suite', () => {
  let folder: string
  let runners: SuiteRunners

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'run-suite-'))
    const certificateFile = join(folder, 'certificate.pem')
    await writeFile(certificateFile, selfSigned().cert)
    runners = createSuiteRunners(certificateFile)
  })
  after(async () => {
    runners.close()
    await rm(folder, { recursive: true })
  })

  it('say why there is no report', async () => {
    const run = runners.run({ url: 'http://127.0.0.1:9', fixtureFile: join(folder, 'none.json') })
    const error = await run.catch((reason: Error) => reason.message)
    expect(error).to.match(/^check ended with 2 and wrote no report: .*none\.json cannot be read/)
  })

  it('run one suite after the other, each with its own arguments', async () => {
    const server = createServer((_incoming, outgoing) => outgoing.writeHead(404).end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const fixtureFile = join(folder, 'fixture.json')
    const account = { address: `0x${'11'.repeat(20)}`, privateKey: `0x${'22'.repeat(32)}` }
    const fixture = {
      chain: { rpcUrl: 'http://127.0.0.1:9', chainId: 1 },
      profile: { address: account.address, keyManager: account.address },
      controllers: { full: account, noSign: account, noRelay: account },
    }
    await writeFile(fixtureFile, JSON.stringify(fixture))
    try {
      for (const only of ['eth-rpc.endpoint.post', 'eth-rpc.envelope.version']) {
        const { report } = await runners.run({ url, fixtureFile, only, options: ['--no-relay'] })
        expect(report.clauses.map(({ id }) => id)).to.deep.equal([only])
        expect(report.target.ethRpcUrl).to.equal(url)
      }
    } finally {
      server.close()
    }
  })
})
