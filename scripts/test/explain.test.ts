import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { SigningKey, Wallet } from 'ethers'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { profileInterface } from '../../contracts/deploy/profile.ts'
import { relayCallDigest, relayNonce, signQuota } from '../../contracts/lsp25.ts'
import { explainBody, type KnownOfProfile } from '../explain-body.ts'

const key = new Wallet(`0x${'11'.repeat(32)}`)
const profile = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const keyManager = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const known: KnownOfProfile = {
  chainId: 42n,
  keyManager,
  controllers: new Map([[key.address.toLowerCase(), 'the given controller']]),
}
const payload = profileInterface.encodeFunctionData('setData', [`0x${'ab'.repeat(32)}`, '0x01'])
const nonce = relayNonce(3n, 9n)
const digest = relayCallDigest({ keyManager, chainId: 42, nonce, payload })
const executeBody = (change: object, signature = new SigningKey(key.privateKey).sign(digest).serialized) => ({
  address: profile,
  transaction: { abi: payload, nonce: String(nonce), signature, ...change },
})
const quotaBody = (timestamp: number, address = profile) => ({
  address: profile,
  timestamp,
  signature: signQuota({ address, timestampSeconds: timestamp }, key.privateKey),
})
const explain = (body: unknown, what = known) => explainBody(Buffer.from(JSON.stringify(body)), what)

describe('explainBody', () => {
  it('reads what is right', () => {
    const { endpoint, facts, mistakes } = explain(executeBody({}))
    expect({ endpoint, mistakes }).to.deep.equal({ endpoint: 'POST /execute', mistakes: [] })
    expect(Object.fromEntries(facts)).to.include({
      nonce: 'channel 3, number 9',
      validity: 'always',
      signer: `${key.address} (the given controller)`,
    })
    const quota = explain(quotaBody(1_790_000_000))
    expect({ endpoint: quota.endpoint, mistakes: quota.mistakes }).to.deep.equal({
      endpoint: 'POST /quota',
      mistakes: [],
    })
    expect(Object.fromEntries(quota.facts)['timestamp']).to.include('2026-09-21T14:13:20.000Z')
  })

  for (const [words, body] of [
    ['signed as a personal message', () => executeBody({}, key.signMessageSync(Buffer.from(digest.slice(2), 'hex')))],
    ['for chain 4201 instead of chain 42', () => executeBody({}, signedFor({ chainId: 4201 }))],
    ['for the address of the profile', () => executeBody({}, signedFor({ keyManager: profile }))],
    ['none of the given controllers', () => executeBody({}, signedFor({ chainId: 77 }))],
    ['transaction/nonce must be an integer, a decimal string or 0x hex', () => executeBody({ nonce: '' })],
    ['ethers v5', () => executeBody({ nonce: { type: 'BigNumber', hex: '0x01' } })],
    ['a signature has 65 bytes', () => executeBody({ signature: '0x1234' })],
    ['is missing', () => ({ address: profile })],
    ['must be object', () => [executeBody({})]],
    ['looks like milliseconds', () => quotaBody(1_790_000_000_000)],
    ['must have that of the profile', () => quotaBody(1_790_000_000, key.address)],
    [
      'the text "<address>:<timestamp>" was signed',
      () => ({ ...quotaBody(1_790_000_000), signature: key.signMessageSync(`${profile}:1790000000`) }),
    ],
  ] as const) {
    it(`names the mistake: ${words}`, () => {
      const { mistakes } = explain(body())
      expect(mistakes.join('\n')).to.include(words)
    })
  }

  it('names a number that has lost its digits, and what is no JSON', () => {
    const lossy = JSON.stringify(executeBody({ nonce: 0 })).replace('"nonce":0', `"nonce":${Number(nonce)}`)
    expect(explainBody(Buffer.from(lossy), known).mistakes.join()).to.include('loses digits, send it as a string')
    expect(explainBody(Buffer.from('{'), known).mistakes).to.have.length(1)
    expect(explainBody(Buffer.from(''), known).mistakes).to.deep.equal(['Invalid request: the body is empty'])
  })

  it('accuses no signature without knowing who should have signed', () => {
    const { facts, mistakes } = explain(executeBody({}, signedFor({ chainId: 77 })), { controllers: new Map() })
    expect(mistakes).to.deep.equal([])
    expect(Object.fromEntries(facts)['signature']).to.include('--key-manager')
  })
})

const signedFor = (change: Partial<Parameters<typeof relayCallDigest>[0]>) =>
  new SigningKey(key.privateKey).sign(relayCallDigest({ keyManager, chainId: 42, nonce, payload, ...change }))
    .serialized

describe('the command explain with a body', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'touchstone-explain-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const explainFile = async (text: string, ...args: string[]) => {
    const file = join(folder, 'body.json')
    await writeFile(file, text)
    const script = join(import.meta.dirname, '..', 'touchstone.ts')
    return spawnSync(process.execPath, [script, 'explain', file, ...args], { encoding: 'utf8' })
  }
  const ofProfile = ['--key-manager', keyManager, '--chain-id', '42', '--controller', key.address]

  it('ends with 0 for what is right, 1 for a mistake, 2 for wrong usage', async () => {
    const right = await explainFile(JSON.stringify(executeBody({})), ...ofProfile)
    expect(right.status, right.stderr).to.equal(0)
    expect(right.stdout).to.match(/^POST \/execute\n {2}profile {3}0x/)
    const wrong = await explainFile(JSON.stringify(executeBody({}, signedFor({ chainId: 1 }))), ...ofProfile)
    expect(wrong.status).to.equal(1)
    expect(wrong.stdout).to.match(/^ {2}mistake {3}the message was signed for chain 1 instead of chain 42; it was/m)
    for (const args of [
      ['--controller', '0x12'],
      ['--chain-id', 'x'],
      ['--fixture', join(folder, 'none.json')],
    ]) {
      const refused = await explainFile('{}', ...args)
      expect({ code: refused.status, stdout: refused.stdout }, refused.stderr).to.deep.equal({ code: 2, stdout: '' })
      expect(refused.stderr.trim().split('\n')).to.have.length(1)
    }
  })
})
