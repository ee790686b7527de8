import { expect } from 'chai'
import {
  Contract,
  getBytes,
  hashMessage,
  JsonRpcProvider,
  NonceManager,
  recoverAddress,
  solidityPackedKeccak256,
  Wallet,
} from 'ethers'
import { setTimeout as delay } from 'node:timers/promises'
import type { RunningChain } from '../../../../contracts/chain.ts'
import { check } from '../../../index.ts'
import type { Report } from '../../../lib/report-types.ts'
import type { Fixture } from '../../../lib/fixture.ts'
import { keyManagerAbi, profileAbi } from '../../../lib/relay/contracts.ts'
import { type ProvisionedChain, startProvisionedChain } from '../../support/provisioned-chain.ts'
import { serve, type TestServer } from '../../support/serve.ts'

/** LSP6: `AddressPermissions:Permissions:<address>`. */
const permissionsKeyPrefix = '0x4b80742de2bf82acb3630000'

interface Body {
  readonly address?: string
  readonly timestamp?: unknown
  readonly signature?: string
  readonly transaction?: { abi: string; signature: string; nonce: number; validityTimestamps?: string }
}

/**
 * Behaves as the public mock relay: it reads a nonce as a double and dies of a value that is none, refuses calls
 * without validityTimestamps, tells a quota that never falls, takes any permission for SIGN, and takes `nonce: [n]`
 * and a timestamp that is a string.
 */
async function startMockRelay({ rpcUrl, accounts }: RunningChain): Promise<TestServer> {
  const provider = new JsonRpcProvider(rpcUrl, undefined, { pollingInterval: 20, cacheTimeout: -1 })
  const wallet = new NonceManager(new Wallet(accounts[1]?.privateKey ?? '', provider))
  const profileAt = (address: string) => new Contract(address, profileAbi, wallet)

  async function execute({ address = '', transaction }: Body): Promise<unknown> {
    if (!transaction || transaction.validityTimestamps === undefined) throw new Error('no validityTimestamps')
    const { abi, signature, validityTimestamps } = transaction
    const keyManager = new Contract(String(await profileAt(address)['owner']?.()), keyManagerAbi, wallet)
    const nonce = BigInt(transaction.nonce)
    await keyManager['executeRelayCall']?.staticCall(signature, nonce, BigInt(validityTimestamps), abi)
    const sent = (await keyManager['executeRelayCall']?.(signature, nonce, BigInt(validityTimestamps), abi)) as {
      hash: string
      wait(): Promise<unknown>
    }
    await sent.wait()
    return { transactionHash: sent.hash }
  }

  async function quota({ address = '', timestamp, signature = '' }: Body): Promise<unknown> {
    const now = Date.now() / 1000
    if (Math.abs(Number(timestamp) - now) > 5) throw new Error('the timestamp is not now')
    const packed = solidityPackedKeccak256(['address', 'uint256'], [address.toLowerCase(), Number(timestamp)])
    const signer = recoverAddress(hashMessage(Buffer.from(packed.slice(2), 'hex')), signature)
    const key = `${permissionsKeyPrefix}${signer.slice(2).toLowerCase()}`
    if (BigInt(String(await profileAt(address)['getData']?.(key))) === 0n) throw new Error('no permission')
    return { quota: 1_543_091, unit: 'gas', totalQuota: 5_000_000, resetDate: Math.floor(now) + 2_592_000 }
  }

  let isDead = false
  const server = await serve((request, response, text) => {
    const handle = { '/execute': execute, '/quota': quota }[request.url ?? '']
    if (!handle || request.method !== 'POST') return response.writeHead(404).end()
    let body: Body
    try {
      body = JSON.parse(text) as Body
    } catch {
      return response.writeHead(400).end()
    }
    if (typeof body.transaction?.nonce === 'number' && body.transaction.nonce > Number.MAX_SAFE_INTEGER) {
      // The process ends, and nobody listens any more.
      isDead = true
      void server[Symbol.asyncDispose]()
      return
    }
    void Promise.resolve()
      .then(() => handle(body))
      .then(
        (answer) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      )
  })
  return {
    ...server,
    async [Symbol.asyncDispose]() {
      provider.destroy()
      if (!isDead) await server[Symbol.asyncDispose]()
    },
  }
}

interface QuotaBody {
  readonly address?: string
  readonly timestamp?: unknown
  readonly signature?: string
}

/**
 * Behaves as the relay Baton: milliseconds in /quota, `quota` for the used amount, `resetDate` in milliseconds, and
 * calls in the form from before LSP25, which no key manager of today takes.
 */
function startBaton({ controllers, profile }: Fixture): Promise<TestServer> {
  function quota({ address = '', timestamp, signature = '' }: QuotaBody): unknown {
    if (typeof timestamp !== 'number' || Math.abs(timestamp - Date.now()) > 5000) throw new Error('stale')
    const packed = solidityPackedKeccak256(['address', 'uint256'], [address.toLowerCase(), timestamp])
    const signer = recoverAddress(hashMessage(getBytes(packed)), signature)
    const holders = [controllers.full.address, controllers.noRelay.address]
    const isProfile = address.toLowerCase() === profile.address.toLowerCase()
    if (!isProfile || !holders.includes(signer)) throw new Error('no SIGN')
    return { quota: 1_234_567, unit: 'gas', totalQuota: 6_500_000, resetDate: Date.now() + 2_592_000_000 }
  }

  return serve((request, response, text) => {
    response.setHeader('content-type', 'application/json')
    if (request.url !== '/quota') return response.writeHead(400).end('{"error":"Failed to execute"}')
    try {
      response.end(JSON.stringify(quota(JSON.parse(text) as QuotaBody)))
    } catch {
      response.writeHead(400).end('{"error":"Failed to execute"}')
    }
  })
}

/** Stands before a relay. Something ends it while the first call is under way, and starts it again a second later. */
async function startEndedOnce(relayUrl: string): Promise<TestServer> {
  let hasEnded = false
  const start = (port?: number): Promise<TestServer> =>
    serve((request, response, body) => {
      if (request.url === '/execute' && !hasEnded) {
        hasEnded = true
        request.socket.destroy()
        void server[Symbol.asyncDispose]().then(async () => {
          await delay(1000)
          server = await start(Number(new URL(server.url).port))
        })
        return
      }
      const taken = body.replace('"nonce":', '"validityTimestamps":"0","nonce":')
      void fetch(`${relayUrl}${request.url}`, { method: 'POST', body: taken }).then(async (answer) =>
        response.writeHead(answer.status).end(await answer.text()),
      )
    }, port)
  let server = await start()
  return { ...server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

describe('relays that are not ours', function () {
  let chain: ProvisionedChain

  before(async () => {
    chain = await startProvisionedChain()
  })
  after(() => chain.close())

  const judge = (relayUrl: string): Promise<Report> =>
    check({ relayUrl, ethRpcUrl: null, fixture: chain.fixture, restartTimeoutMs: 1, receiptTimeoutMs: 5000 })

  const failed = ({ clauses }: Report) =>
    clauses.filter(({ level, status }) => level === 'required' && status === 'failed').map(({ id }) => id)
  const messages = ({ clauses }: Report, id: string) =>
    clauses
      .find((clause) => clause.id === id)
      ?.tests.map(({ error }) => error?.message ?? '')
      .join('\n')

  it('the public mock relay: judged up to its death, each fault by its name', async () => {
    await using relay = await startMockRelay(chain)
    const report = await judge(relay.url)
    expect(report.verdict).to.equal('nonconformant')
    expect(failed(report)).to.deep.equal([
      'relay.execute.post',
      'relay.execute.nonce-integer',
      'relay.quota.total-is-available-plus-used',
      'relay.quota.sign-permission',
      'relay.quota.timestamp-integer',
    ])
    expect(messages(report, 'relay.execute.post'))
      .to.contain('refuses a call without validityTimestamps')
      .and.to.contain('stopped answering after this valid request')
  })

  it('a relay that something else ends during a call, and that comes back: the call is sent again', async () => {
    await using relay = await startMockRelay(chain)
    await using front = await startEndedOnce(relay.url)
    const { fixture } = chain
    const report = await check({ relayUrl: front.url, ethRpcUrl: null, fixture, only: 'relay.execute.post' })
    expect(report.clauses.map(({ status }) => status)).to.deep.equal(['passed'])
    expect(report.notes.join()).to.contain('came back')
  })

  it('Baton: milliseconds, calls of yesterday, and nothing that only follows from these', async () => {
    await using relay = await startBaton(chain.fixture)
    const report = await judge(relay.url)
    expect(failed(report)).to.deep.equal(['relay.execute.post', 'relay.quota.timestamp-seconds'])
    expect(messages(report, 'relay.quota.timestamp-seconds')).to.contain('milliseconds')
  })
})
