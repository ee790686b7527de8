import { expect } from 'chai'
import { keccak256, Wallet } from 'ethers'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { startChain, type RunningChain } from '../../contracts/chain.ts'
import { BUNDLER_CODE_HASH } from '../../server/ethereum/bundle.ts'

describe('the command bundler', () => {
  let chain: RunningChain
  before(async () => {
    chain = await startChain()
  })
  after(() => chain.close())

  async function bundler(args: readonly string[], key?: string) {
    const script = join(import.meta.dirname, '../touchstone.ts')
    const env = { ...process.env }
    delete env['FUNDER_KEY']
    const child = spawn(process.execPath, [script, 'bundler', ...args], {
      env: { ...env, ...(key !== undefined && { FUNDER_KEY: key }) },
    })
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number]>,
    ])
    return { stdout, stderr, code }
  }
  const deploy = (...args: string[]) => bundler(['deploy', '--rpc-url', chain.rpcUrl, ...args])

  it('deploys the contract that the server knows, and prints its address alone', async () => {
    const key = chain.accounts[0]!.privateKey
    const { stdout, stderr, code } = await bundler(['deploy', '--rpc-url', chain.rpcUrl], key)
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
    expect(stdout).to.match(/^0x[0-9a-fA-F]{40}\n$/)
    const deployed: unknown = await chain.provider.request({ method: 'eth_getCode', params: [stdout.trim(), 'latest'] })
    expect(keccak256(String(deployed))).to.equal(BUNDLER_CODE_HASH)
    expect((await deploy('--funder-key', key)).code).to.equal(0)
  })

  it('says in one line what is missing', async () => {
    const poor = Wallet.createRandom().privateKey
    const faults = await Promise.all([
      deploy(),
      deploy('--funder-key', '0x12'),
      deploy('--funder-key', poor),
      bundler(['deploy']),
      bundler(['deploy', '--rpc-url', 'http://127.0.0.1:9', '--funder-key', poor]),
    ])
    for (const { code, stdout, stderr } of faults) {
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
      expect(stderr).to.match(/^.+\n$/)
      expect(stderr).not.to.include(poor)
    }
    expect(faults.map(({ stderr }) => stderr.split(/[:(]/)[0]?.trim())).to.deep.equal([
      'who pays? Set FUNDER_KEY to the private key of an account with coin',
      'the key of the funder is not 32 bytes in hex',
      'the contract is not deployed',
      'error',
      'no Ethereum node answers at http',
    ])
  })
})
