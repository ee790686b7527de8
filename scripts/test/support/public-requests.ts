import { AbiCoder, concat, getBytes, hashMessage, Interface, keccak256, toBeHex, TypedDataEncoder } from 'ethers'
import type { ClauseId } from '../../../specs/index.ts'
import { nowSeconds, validityOf, type PlainClient } from '../../../conformance/clients/plain-client.ts'
import { randomChannel } from '../../../conformance/lib/relay/call.ts'
import { relayDigest, signDigest, signQuota, type RelayMessage } from '../../../conformance/lib/relay/message.ts'

/** A request in a form that clients in public code or documentation send, judged by hand. */
interface PublicRequest {
  readonly form: string
  readonly send: (client: PlainClient) => Promise<unknown>
  /** The clauses that it breaks, in the order of the catalogue. */
  readonly wrong: readonly ClauseId[]
}

type Transaction = Readonly<Record<string, unknown>>

/** A call whose transaction is written as a client writes it. */
const call =
  (write: (transaction: Transaction, message: RelayMessage) => Transaction, part: Partial<RelayMessage> = {}) =>
  async (client: PlainClient) => {
    const message = await client.message(part)
    const { address, transaction } = client.sign(message)
    return client.post('/execute', { address, transaction: { ...transaction, ...write(transaction, message) } })
  }

const withHeader = (name: string) => async (client: PlainClient) =>
  client.post('/execute', client.sign(await client.message()), { [name]: '0123456789abcdef' })

const inChannel =
  (write: (transaction: Transaction, message: RelayMessage) => Transaction) => async (client: PlainClient) =>
    call(write, { nonce: await client.nonce(randomChannel()) })(client)

const untilLater = validityOf(1, nowSeconds() + 3600)
const asText = (text: (validity: bigint) => unknown) =>
  call((_transaction, { validityTimestamps }) => ({ validityTimestamps: text(validityTimestamps) }), {
    validityTimestamps: untilLater,
  })

/** A transfer whose amount was also signed as the value of the relay call. */
async function withValue(client: PlainClient): Promise<unknown> {
  const execute = new Interface(['function execute(uint256 operation, address to, uint256 value, bytes data)'])
  const payload = execute.encodeFunctionData('execute', [0, client.fixture.controllers.full.address, 5n, '0x'])
  const message = await client.message({ payload })
  const words = [25n, message.chainId, message.nonce, 0n, 5n].map((word) => toBeHex(word, 32))
  return client.post(
    '/execute',
    client.sign(message, keccak256(concat(['0x1900', message.keyManager, ...words, payload]))),
  )
}

/** A request for the quota, signed by a digest of its own. */
const quota =
  (digestOf: (address: string, timestamp: number) => string, shiftSeconds = 0, unit = 1) =>
  (client: PlainClient) => {
    const { address } = client.fixture.profile
    const timestamp = (nowSeconds() + shiftSeconds) * unit
    const signature = signDigest(client.fixture.controllers.full, digestOf(address, timestamp))
    return client.quota({ timestamp, signature })
  }

const packed = (address: string, timestamp: number): string => keccak256(concat([address, toBeHex(timestamp, 32)]))
const personal = (address: string, timestamp: number): string => hashMessage(getBytes(packed(address, timestamp)))
const encoded = (address: string, timestamp: number): string =>
  keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'uint256'], [address, timestamp]))
const typed = (address: string, timestamp: number): string => {
  const types = {
    Quota: ['address', 'uint256'].map((type, index) => ({ type, name: ['profile', 'timestamp'][index] ?? '' })),
  }
  return TypedDataEncoder.hash({ name: 'LSP15' }, types, { profile: address, timestamp })
}

export const publicRequests: readonly PublicRequest[] = [
  { form: 'the body of the document', send: call(() => ({})), wrong: [] },
  {
    form: 'Number(nonce) in channel 0, validityTimestamps "0x0"',
    send: call((_transaction, { nonce }) => ({ nonce: Number(nonce), validityTimestamps: '0x0' })),
    wrong: [],
  },
  {
    form: 'Number(nonce) in another channel',
    send: inChannel((_transaction, { nonce }) => ({ nonce: Number(nonce) })),
    wrong: ['client.execute.nonce-lossless'],
  },
  { form: 'nonce.toString()', send: inChannel((_transaction, { nonce }) => ({ nonce: `${nonce}` })), wrong: [] },
  {
    form: 'the nonce as 32 bytes in hex',
    send: inChannel((_transaction, { nonce }) => ({ nonce: toBeHex(nonce, 32) })),
    wrong: [],
  },
  { form: 'value "0x00"', send: call(() => ({ value: '0x00' })), wrong: [] },
  {
    form: 'keyManagerAddress beside address',
    send: async (client) =>
      client.post('/execute', {
        ...client.sign(await client.message()),
        keyManagerAddress: client.fixture.profile.keyManager,
      }),
    wrong: [],
  },
  { form: 'validityTimestamps as 32 bytes in hex', send: asText((validity) => toBeHex(validity, 32)), wrong: [] },
  { form: 'validityTimestamps as decimal digits', send: asText(String), wrong: [] },
  { form: 'validityTimestamps null', send: call(() => ({ validityTimestamps: null })), wrong: [] },
  {
    form: 'Number(validityTimestamps)',
    send: asText(Number),
    wrong: ['client.execute.validity-lossless'],
  },
  {
    form: 'validityTimestamps "0x"',
    send: call(() => ({ validityTimestamps: '0x' })),
    wrong: ['client.execute.validity'],
  },
  {
    form: 'the nonce as a BigNumber of ethers 5',
    send: call(() => ({ nonce: { type: 'BigNumber', hex: '0x00' } })),
    wrong: ['client.execute.nonce-integer'],
  },
  { form: 'the amount signed as the value of the call', send: withValue, wrong: ['client.execute.digest'] },
  {
    form: 'the digest signed by personal_sign',
    send: async (client) => {
      const message = await client.message()
      return client.post('/execute', client.sign(message, hashMessage(getBytes(relayDigest(message)))))
    },
    wrong: ['client.execute.digest'],
  },
  {
    form: 'all members flat, payload in place of abi',
    send: async (client) => {
      const { abi, ...others } = client.sign(await client.message()).transaction
      return client.post('/execute', { keyManagerAddress: client.fixture.profile.keyManager, payload: abi, ...others })
    },
    wrong: ['client.execute.post', 'client.execute.members'],
  },
  {
    form: 'a list of bodies',
    send: async (client) => client.post('/execute', [client.sign(await client.message())]),
    wrong: ['client.execute.post', 'client.execute.members'],
  },
  {
    form: '/v1/relayer/execute below the URL that the client was given',
    send: async (client) => client.post('/v1/relayer/execute', client.sign(await client.message())),
    wrong: ['client.execute.post'],
  },
  {
    form: '//execute, below a URL that ends in a slash',
    send: async (client) => client.post('//execute', client.sign(await client.message())),
    wrong: [],
  },
  { form: 'a header x-api-key', send: withHeader('x-api-key'), wrong: ['client.execute.no-credential'] },
  { form: 'a header authorization', send: withHeader('authorization'), wrong: ['client.execute.no-credential'] },
  { form: 'a header access-control-allow-origin', send: withHeader('access-control-allow-origin'), wrong: [] },
  { form: 'the quota: personal_sign of the packed hash', send: quota(personal), wrong: [] },
  {
    form: 'the quota: personal_sign of the text <address>:<timestamp>',
    send: quota((address, timestamp) => hashMessage(`${address}:${timestamp}`)),
    wrong: ['client.quota.hash'],
  },
  { form: 'the quota: the packed hash without a prefix', send: quota(packed), wrong: ['client.quota.hash'] },
  {
    form: 'the quota: personal_sign of the hash as a hex string',
    send: quota((address, timestamp) => hashMessage(packed(address, timestamp))),
    wrong: ['client.quota.hash'],
  },
  {
    form: 'the quota: personal_sign of the hash of abi.encode',
    send: quota((address, timestamp) => hashMessage(getBytes(encoded(address, timestamp)))),
    wrong: ['client.quota.hash'],
  },
  // Which type was signed cannot be known, so what remains is that the signature leads to nobody.
  { form: 'the quota: typed data (EIP-712)', send: quota(typed), wrong: ['client.quota.sign-permission'] },
  {
    form: "the quota: over the controller's address",
    send: (client) => {
      const { full } = client.fixture.controllers
      const timestamp = nowSeconds()
      return client.quota({ timestamp, signature: signQuota({ address: full.address, timestamp }, full) })
    },
    wrong: ['client.quota.bound-to-message'],
  },
  { form: 'the quota: milliseconds', send: quota(personal, 0, 1000), wrong: ['client.quota.timestamp-seconds'] },
  {
    form: 'the quota: the timestamp as a string',
    send: (client) => client.quota({ timestamp: `${nowSeconds()}` }),
    wrong: ['client.quota.timestamp-integer'],
  },
  { form: 'the quota: 30 seconds ahead', send: quota(personal, 30), wrong: ['client.quota.window'] },
  { form: 'the quota: 200 seconds old', send: quota(personal, -200), wrong: ['client.quota.window'] },
]
