import { expect } from 'chai'
import { profileInterface } from '../../../contracts/deploy/profile.ts'
import { targetInterface } from '../../../contracts/deploy/targets.ts'
import { relayNonce, signQuota, signRelayCall } from '../../../contracts/lsp25.ts'

/** An answer of the relay. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly json: {
    readonly transactionHash?: string
    readonly code?: string
    readonly message?: string
    readonly details?: Readonly<Record<string, unknown>>
    readonly broadcast?: boolean
    readonly [member: string]: unknown
  }
}

export interface KeyPair {
  readonly address: string
  readonly privateKey: string
}

/** Body of `POST /execute`; the nonce goes out as an integer literal of any size. */
interface ExecuteBody {
  readonly address: string
  readonly transaction: {
    readonly abi: string
    readonly signature: string
    readonly nonce: bigint | number | string
    readonly [member: string]: unknown
  }
}

interface RelayClientOptions {
  readonly url: string
  readonly chainId: number
  readonly profile: { readonly address: string; readonly keyManager: string }
  readonly controller: KeyPair
}

export type RelayClient = ReturnType<typeof createRelayClient>

/** A client that signs for one controller of one profile. */
export function createRelayClient({ url, chainId, profile, controller }: RelayClientOptions) {
  const post = async (path: string, body: unknown): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body, (_key, value: unknown) =>
        typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value,
      ),
    })
    return { status: response.status, headers: response.headers, json: (await response.json()) as Answer['json'] }
  }
  const sign = (call: {
    channel?: bigint
    id?: bigint
    payload?: string
    validityTimestamps?: bigint
    signer?: KeyPair
  }): ExecuteBody => {
    const { channel = 0n, id = 0n, payload = setSomeData(), validityTimestamps, signer = controller } = call
    const nonce = relayNonce(channel, id)
    const message = {
      keyManager: profile.keyManager,
      chainId,
      nonce,
      payload,
      ...(validityTimestamps !== undefined && { validityTimestamps }),
    }
    return {
      address: profile.address,
      transaction: {
        abi: payload,
        signature: signRelayCall(message, signer.privateKey),
        nonce,
        ...(validityTimestamps !== undefined && { validityTimestamps: `0x${validityTimestamps.toString(16)}` }),
      },
    }
  }
  return {
    url,
    chainId,
    profile,
    controller,
    sign,
    post: (body: unknown) => post('/execute', body),
    execute: (call: Parameters<typeof sign>[0] = {}) => post('/execute', sign(call)),
    quota: (signer: KeyPair = controller, timestamp = Math.floor(Date.now() / 1000)) =>
      post('/quota', {
        address: profile.address,
        timestamp,
        signature: signQuota({ address: profile.address, timestampSeconds: timestamp }, signer.privateKey),
      }),
    /** @param query of the path, `?nonce=1` for example */
    status: async (hash: string, query = ''): Promise<Answer> => {
      const response = await fetch(`${url}/transactions/${hash}${query}`)
      return { status: response.status, headers: response.headers, json: (await response.json()) as Answer['json'] }
    },
  }
}

/** A payload that always succeeds for the full controller: data under a key that means nothing. */
export const setSomeData = (value = '0x01', key = `0x${'ab'.repeat(32)}`): string =>
  profileInterface.encodeFunctionData('setData', [key, value])

/** A payload that calls the target, with wei from the profile. */
export const callTarget = (target: string, functionName: string, values: unknown[] = [], valueWei = 0n): string =>
  profileInterface.encodeFunctionData('execute', [
    0,
    target,
    valueWei,
    targetInterface.encodeFunctionData(functionName, values),
  ])

/** A payload that sends wei from the profile. */
export const sendWei = (to: string, valueWei: bigint): string =>
  profileInterface.encodeFunctionData('execute', [0, to, valueWei, '0x'])

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/**
 * Posts the same body as a program and as a page elsewhere: the fast lane answers the first, the app the second. Expects
 * the same answers, but for the headers that pages need, what is left of a limit, and the time: the clock may pass a
 * second between the two.
 */
export async function postBothWays(url: string, body: unknown): Promise<Answered> {
  const post = async (headers: Record<string, string>): Promise<Answered> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': 'same', ...headers },
      body: JSON.stringify(body),
    })
    const names = [...response.headers.keys()].filter((name) => name !== 'vary' && !name.startsWith('access-control-'))
    const changes = /^(?:date|ratelimit-remaining|ratelimit-reset)$/
    const told = names.map((name) => [name, changes.test(name) ? '' : (response.headers.get(name) ?? '')] as const)
    const text = (await response.text()).replace(/"serverTime":\d+/, '"serverTime":0')
    return { status: response.status, headers: Object.fromEntries(told), text }
  }
  const plain = await post({})
  expect(await post({ origin: 'https://elsewhere.example' })).to.deep.equal(plain)
  return plain
}
