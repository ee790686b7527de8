import { setTimeout as delay } from 'node:timers/promises'
import { hexlify, randomBytes, toBeHex } from 'ethers'
import { connectChain, type ChainTruth } from '../lib/chain-truth.ts'
import type { Account, Fixture } from '../lib/fixture.ts'
import { parseLossless, stringify } from '../lib/lossless-json.ts'
import { keyManagerAbi, profileAbi, readNonce } from '../lib/relay/contracts.ts'
import { relayDigest, signDigest, signQuota, type RelayMessage } from '../lib/relay/message.ts'
import type { Given } from './judge.ts'

type Json = Readonly<Record<string, unknown>>

/** What a client was answered; `undefined` in place of it: the connection was closed. */
export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly json: unknown
}

/** The parts of a client, from which mutants and lawful clients are made. */
export interface PlainClient {
  readonly fixture: Fixture
  readonly chain: ChainTruth
  /** A call that stores a new value under a new data key of the profile, in hex. */
  payload(): string
  /** The next nonce that the key manager tells. Absent controller: the one with all permissions. */
  nonce(channel?: bigint, controller?: Account): Promise<bigint>
  /** What is signed for a call. Absent members: the next nonce of channel 0, always valid, a new payload. */
  message(part?: Partial<RelayMessage>): Promise<RelayMessage>
  /** The body of the document, signed by the controller with all permissions. */
  sign(message: RelayMessage, digest?: string, controller?: Account): { address: string; transaction: Json }
  /** Sends a body, a text as it is. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered | undefined>
  /** A new call, signed and sent. */
  execute(part?: Partial<RelayMessage>): Promise<Answered | undefined>
  /** A request for the quota, with a part of its body in place of the right one. */
  quota(part?: Json): Promise<Answered | undefined>
  /** One call of a method. */
  rpc(method: string, params: unknown, others?: Json): Promise<Answered | undefined>
  wait(seconds: number): Promise<void>
  /** Has the key manager execute a payload in a transaction of the controller. @returns when it is mined */
  executeDirectly(payload: string): Promise<void>
}

/** Unix seconds. */
export const nowSeconds = (): number => Math.floor(Date.now() / 1000)

/** `start << 128 | end`, in Unix seconds. */
export const validityOf = (start: number, end: number): bigint => (BigInt(start) << 128n) | BigInt(end)

/** A client that does as the documents say, and nothing more. */
export async function createPlainClient({ relayUrl, fixture }: Given): Promise<PlainClient> {
  const chain = await connectChain(fixture.chain.rpcUrl)
  const { address, keyManager } = fixture.profile
  const { full } = fixture.controllers

  const client: PlainClient = {
    fixture,
    chain,
    payload: () => profileAbi.encodeFunctionData('setData', [hexlify(randomBytes(32)), '0x01']),
    nonce: (channel = 0n, controller = full) => readNonce(chain, keyManager, controller.address, channel),
    message: async (part = {}) => ({
      keyManager,
      chainId: chain.chainId,
      validityTimestamps: 0n,
      payload: client.payload(),
      ...part,
      nonce: part.nonce ?? (await client.nonce()),
    }),
    sign: ({ nonce, validityTimestamps, payload, ...rest }, digest, controller = full) => {
      const message = { nonce, validityTimestamps, payload, ...rest }
      const signature = signDigest(controller, digest ?? relayDigest(message))
      const validity = validityTimestamps === 0n ? {} : { validityTimestamps: toBeHex(validityTimestamps, 32) }
      return { address, transaction: { abi: payload, signature, nonce, ...validity } }
    },
    async post(path, body, headers = {}) {
      const text = typeof body === 'string' ? body : stringify(body)
      const sent = { 'content-type': 'application/json', ...headers }
      try {
        const answer = await fetch(`${relayUrl}${path}`, { method: 'POST', headers: sent, body: text })
        return { status: answer.status, headers: answer.headers, json: parseLossless(await answer.text()) }
      } catch {
        return undefined
      }
    },
    execute: async (part) => client.post('/execute', client.sign(await client.message(part))),
    quota: (part = {}) => {
      const message = { address, timestamp: nowSeconds() }
      return client.post('/quota', { ...message, signature: signQuota(message, full), ...part })
    },
    rpc: (method, params, others = {}) =>
      client.post('/api/eth-rpc', { jsonrpc: '2.0', id: 1, method, params, ...others }),
    wait: (seconds) => delay(seconds * 1000),
    executeDirectly: async (payload) => {
      const data = keyManagerAbi.encodeFunctionData('execute', [payload])
      const hash = await chain.send('eth_sendTransaction', [{ from: full.address, to: keyManager, data }])
      while ((await chain.send('eth_getTransactionReceipt', [hash])) === null) await delay(20)
    },
  }
  return client
}

/** A filter that selects more than a page. */
const emitterOf = ({ fixture }: PlainClient): object => {
  const { emitter, fromBlock, toBlock } = fixture.logs ?? { emitter: fixture.profile.address, fromBlock: 0, toBlock: 0 }
  return { address: emitter, fromBlock: `0x${fromBlock.toString(16)}`, toBlock: `0x${toBlock.toString(16)}` }
}

/** The last entry of the first page. */
export async function lastOfFirstPage(client: PlainClient): Promise<{ logIndex: string; blockNumber: string }> {
  const page = await client.rpc('eth_getLogs', [emitterOf(client)])
  const { result = [] } = (page?.json ?? {}) as { result?: { logIndex: string; blockNumber: string }[] }
  const last = result.at(-1)
  if (!last) throw new Error('the fixture has no logs')
  return last
}

/** Asks for the page after the first one. */
export const nextPage = async (
  client: PlainClient,
  keysOf: (last: { logIndex: string; blockNumber: string }) => object,
) => client.rpc('eth_getLogs', [{ ...emitterOf(client), paging_options: keysOf(await lastOfFirstPage(client)) }])
