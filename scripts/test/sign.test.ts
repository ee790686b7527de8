import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { UsageError } from '../../conformance/lib/outcome.ts'
import { unusedPort } from '../../testbed/processes.ts'
import { run } from '../sign.ts'

describe('the command sign', () => {
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'touchstone-test-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  /** The one line that a mistake is told in. */
  async function refusal(endpoint: string, file: string): Promise<string> {
    const error = await run([endpoint, '--fixture', file]).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(UsageError)
    return (error as Error).message
  }

  it('says in one line what keeps it from signing', async () => {
    const [other, fixture] = ['other.json', 'fixture.json'].map((name) => join(folder, name)) as [string, string]
    const { address, privateKey } = Wallet.createRandom()
    const controller = { address, privateKey }
    const away = `http://127.0.0.1:${await unusedPort()}`
    await writeFile(other, '{}')
    await writeFile(
      fixture,
      JSON.stringify({
        chain: { rpcUrl: away, chainId: 31337 },
        profile: { address, keyManager: address },
        controllers: { full: controller, noSign: controller, noRelay: controller },
      }),
    )
    expect(await refusal('quota', join(folder, 'none.json'))).to.include('start the testbed first')
    expect(await refusal('quota', other)).to.include('is not a fixture')
    expect(await refusal('both', fixture)).to.include("'both' is neither execute nor quota")
    expect(await refusal('execute', fixture)).to.include(`${away} does not tell the next nonce`)
  })
})
