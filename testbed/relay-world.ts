import { computeAddress, HDNodeWallet } from 'ethers'
import { Pool } from 'undici'
import { NodeProvider } from '../contracts/deploy/node-provider.ts'
import { signerOnNode } from '../contracts/deploy/signer-on-node.ts'
import { TEST_MNEMONIC } from '../contracts/hardhat.ts'
import { keyManagerInterface, profileInterface } from '../contracts/deploy/profile.ts'
import { deployBundler } from '../contracts/deploy/bundler.ts'
import { createSender } from '../contracts/deploy/sender.ts'
import { provisionFixture, type Fixture } from '../contracts/deploy/fixture.ts'
import { relayNonce, signRelayCall } from '../contracts/lsp25.ts'
import { postText } from '../server/services/node/http-node.ts'

/** A chain with a profile, and the accounts that act on it. */
export interface RelayWorld {
  readonly rpcUrl: string
  readonly chainId: number
  readonly fixture: Fixture
  /** Address of the contract that makes several calls in one transaction. */
  readonly bundler: string
  /** Private keys of accounts with native coin, which only relays use. */
  readonly signerKeys: readonly string[]
  /** The addresses of these keys. */
  readonly signers: readonly string[]
}

/** The indexes of the well-known accounts that pay for relays. The first accounts deploy and control. */
const SIGNERS = [16, 17, 18, 19]

/** Deploys the fixture on a fresh development node. */
export async function provisionWorld(rpcUrl: string): Promise<RelayWorld> {
  const provider = new NodeProvider(rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1, batchMaxCount: 1 })
  try {
    const { chainId } = await provider.getNetwork()
    const deployer = signerOnNode(provider, computeAddress(testKey(0)))
    const fixture = await provisionFixture(deployer, {
      rpcUrl,
      relayUrl: '',
      ethRpcBaseUrl: '',
      profileFundsWei: 10n ** 18n,
    })
    const bundler = await deployBundler(await createSender(deployer))
    const signerKeys = SIGNERS.map(testKey)
    const signers = signerKeys.map((key) => computeAddress(key))
    return { rpcUrl, chainId: Number(chainId), fixture, bundler, signerKeys, signers }
  } finally {
    provider.destroy()
  }
}

/** Private key of the well-known account with this index. */
export function testKey(index: number): string {
  return HDNodeWallet.fromPhrase(TEST_MNEMONIC, undefined, `m/44'/60'/0'/0/${index}`).privateKey
}

/** Members of a server's configuration. With them, calls that wait for the same account share a transaction. */
export const bundling = ({ bundler }: RelayWorld) => ({ relay: { bundle: { contract: bundler } } })

const SOME_KEY = `0x${'ab'.repeat(32)}`

/**
 * A signed relay call: the body for `POST /execute`, and the call data of the transaction that executes it.
 *
 * @param dataKey the data key that the call sets; absent: all calls set the same one
 */
export function signedCall(
  { fixture, chainId }: Pick<RelayWorld, 'fixture' | 'chainId'>,
  channel: bigint,
  id: bigint,
  dataKey = SOME_KEY,
) {
  const { profile, controllers } = fixture
  const payload = profileInterface.encodeFunctionData('setData', [dataKey, `0x${hex(id)}`])
  const nonce = relayNonce(channel, id)
  const signature = signRelayCall(
    { keyManager: profile.keyManager, chainId, nonce, payload },
    controllers.full.privateKey,
  )
  return {
    nonce,
    body: `{"address":"${profile.address}","transaction":{"abi":"${payload}","signature":"${signature}","nonce":${nonce}}}`,
    callData: keyManagerInterface.encodeFunctionData('executeRelayCall', [signature, nonce, 0n, payload]),
  }
}

/** No relay takes so long to answer. */
const ANSWER_MS = 60_000

/** Posts JSON over kept-alive connections, with the least work that a caller can do. */
export function createPoster(url: string, connections: number) {
  const pool = new Pool(url, { connections })
  const headers = { 'content-type': 'application/json' }
  const post = async (path: string, body: string): Promise<{ status: number; json: Record<string, unknown> }> => {
    const { status, text } = await postText(pool, { path, headers, body, timeoutMs: ANSWER_MS })
    return { status, json: JSON.parse(text) as Record<string, unknown> }
  }
  return {
    post,
    /** @throws Error with the relay's answer, when the relay refuses the call */
    execute: async (body: string): Promise<Record<string, unknown>> => {
      const { status, json } = await post('/execute', body)
      if (status !== 200) throw new Error(`relay: ${status} ${JSON.stringify(json)}`)
      return json
    },
    close: () => pool.close(),
  }
}

const hex = (value: bigint) => (value + 1n).toString(16).padStart(8, '0')

/** A JSON-RPC endpoint over connections that are kept alive. */
export interface RpcClient {
  /** @throws Error with the service's code and message */
  call<Result>(method: string, ...params: unknown[]): Promise<Result>
  post(body: string | Buffer): Promise<{ status: number; text: string }>
  close(): Promise<void>
}

export function createRpcClient(url: string, connections: number): RpcClient {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections })
  const headers = { 'content-type': 'application/json' }
  const post: RpcClient['post'] = async (body) => {
    const { statusCode, body: answer } = await pool.request({ method: 'POST', path: pathname, headers, body })
    return { status: statusCode, text: await answer.text() }
  }
  return {
    post,
    call: async <Result>(method: string, ...params: unknown[]) => {
      const { text } = await post(rpcBody(method, params))
      const { result, error } = JSON.parse(text) as { result: Result; error?: { code: number; message: string } }
      if (error) throw Object.assign(new Error(error.message), { code: error.code })
      return result
    },
    close: () => pool.close(),
  }
}

export const rpcBody = (method: string, params: readonly unknown[], id = 1) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
