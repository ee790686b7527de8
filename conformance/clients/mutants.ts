import { getBytes, hashMessage, randomBytes, hexlify } from 'ethers'
import { setTimeout as delay } from 'node:timers/promises'
import type { ClauseId } from '../../specs/index.ts'
import type { Account } from '../lib/fixture.ts'
import { NumberLiteral } from '../lib/lossless-json.ts'
import { randomChannel } from '../lib/relay/call.ts'
import { relayDigest, signQuota, strangerAccount, type QuotaReading } from '../lib/relay/message.ts'
import { nextPage, nowSeconds, validityOf, type PlainClient } from './plain-client.ts'
import type { Step } from './recording.ts'

/** A client that breaks one sentence on purpose. */
export interface ClientMutant {
  /** The clause that must catch the fault. */
  readonly clause: ClauseId
  /** What the client does wrong, in one sentence. */
  readonly fault: string
  /** Other clauses that the same requests break. */
  readonly also?: readonly ClauseId[]
  /** What is done with its calls, from the first on; absent: they are served. */
  readonly provoked?: readonly Step[]
  act(client: PlainClient): Promise<unknown>
}

/** Sends a new call whose transaction has other members than the right ones. */
const withTransaction = (change: Readonly<Record<string, unknown>>) => async (client: PlainClient) => {
  const { address, transaction } = client.sign(await client.message())
  return client.post('/execute', { address, transaction: { ...transaction, ...change } })
}

/** Sends a request for the quota that is signed for another address or time, or in another way. */
const quotaSignedOver =
  (change: (right: { address: string; timestamp: number }) => { address: string; timestamp: number }) =>
  (client: PlainClient) => {
    const right = { address: client.fixture.profile.address, timestamp: nowSeconds() }
    return client.quota({ ...right, signature: signQuota(change(right), client.fixture.controllers.full) })
  }

/** Sends a request for the quota with a timestamp, signed by reading and controller. */
function quotaAt(
  client: PlainClient,
  timestamp = nowSeconds(),
  { reading, controller = client.fixture.controllers.full }: { reading?: QuotaReading; controller?: Account } = {},
) {
  const message = { address: client.fixture.profile.address, timestamp }
  return client.quota({ ...message, signature: signQuota(message, controller, reading) })
}

const ofExecute: readonly ClientMutant[] = [
  {
    clause: 'client.execute.post',
    fault: 'It sends calls to /api/execute.',
    act: async (client) => client.post('/api/execute', client.sign(await client.message())),
  },
  {
    clause: 'client.execute.post',
    fault: 'It sends the members flat, without the object transaction.',
    also: ['client.execute.members'],
    act: async (client) => client.post('/execute', client.sign(await client.message()).transaction),
  },
  {
    clause: 'client.execute.post',
    fault: 'It sends several calls as a list.',
    also: ['client.execute.members'],
    act: async (client) => client.post('/execute', [client.sign(await client.message())]),
  },
  {
    clause: 'client.execute.members',
    fault: 'It leaves out the nonce, which the relay could look up.',
    act: withTransaction({ nonce: undefined }),
  },
  {
    clause: 'client.execute.hex',
    fault: 'It sends the signature in base64.',
    act: withTransaction({ signature: Buffer.from(randomBytes(65)).toString('base64') }),
  },
  {
    clause: 'client.execute.profile',
    fault: 'It names the controller in place of the profile.',
    act: async (client) =>
      client.post('/execute', {
        ...client.sign(await client.message()),
        address: client.fixture.controllers.full.address,
      }),
  },
  {
    clause: 'client.execute.signature',
    fault: 'It signs with a key that is no controller of the profile.',
    act: async (client) => client.post('/execute', client.sign(await client.message(), undefined, strangerAccount())),
  },
  {
    clause: 'client.execute.digest',
    fault: 'It signs the digest as a personal message.',
    act: async (client) => {
      const message = await client.message()
      return client.post('/execute', client.sign(message, hashMessage(getBytes(relayDigest(message)))))
    },
  },
  {
    clause: 'client.execute.digest',
    fault: 'It sends a window that it did not sign.',
    act: async (client) => {
      const message = await client.message({ validityTimestamps: validityOf(0, nowSeconds() + 60) })
      return client.post('/execute', client.sign(message, relayDigest({ ...message, validityTimestamps: 0n })))
    },
  },
  {
    clause: 'client.execute.digest',
    fault: 'It signs for the profile in place of its key manager.',
    act: async (client) => {
      const message = await client.message()
      const keyManager = client.fixture.profile.address
      return client.post('/execute', client.sign(message, relayDigest({ ...message, keyManager })))
    },
  },
  {
    clause: 'client.execute.chain-id',
    fault: 'It signs for the main network, wherever it is.',
    act: async (client) => {
      const message = await client.message()
      return client.post('/execute', client.sign(message, relayDigest({ ...message, chainId: 42n })))
    },
  },
  {
    clause: 'client.execute.nonce-integer',
    fault: 'It sends the nonce as ethers 5 writes its large numbers.',
    act: withTransaction({ nonce: { type: 'BigNumber', hex: '0x00' } }),
  },
  {
    clause: 'client.execute.nonce-lossless',
    fault: 'It sends the nonce of a channel as a double.',
    act: async (client) => {
      const message = await client.message({ nonce: (randomChannel() << 128n) | 0n })
      const { address, transaction } = client.sign(message)
      return client.post('/execute', { address, transaction: { ...transaction, nonce: Number(message.nonce) } })
    },
  },
  {
    clause: 'client.execute.nonce-lossless',
    fault: 'It rounds the nonce of a channel, and writes all digits of what is left.',
    act: async (client) => {
      const channel = 2n ** 60n
      await client.execute({ nonce: await client.nonce(channel) })
      const message = await client.message({ nonce: await client.nonce(channel) })
      const { address, transaction } = client.sign(message)
      return client.post('/execute', {
        address,
        transaction: { ...transaction, nonce: new NumberLiteral(String(BigInt(Number(message.nonce)))) },
      })
    },
  },
]

const ofConduct: readonly ClientMutant[] = [
  {
    clause: 'client.execute.nonce',
    fault: 'It counts calls from 0 at each start.',
    act: async (client) => {
      const nonce = await client.nonce(randomChannel())
      await client.execute({ nonce })
      return client.execute({ nonce })
    },
  },
  {
    clause: 'client.execute.nonce',
    fault: 'It adds one to the nonce of the key manager.',
    act: async (client) => client.execute({ nonce: (await client.nonce(randomChannel())) + 1n }),
  },
  {
    clause: 'client.execute.channel-order',
    fault: 'It sends the second call of a channel, waits for the answer, and sends the first.',
    act: async (client) => {
      const nonce = await client.nonce(randomChannel())
      // A relay may hold the later call until the earlier one comes, so the client ends its wait.
      await client.execute({ nonce: nonce + 1n })
      await delay(300)
      return client.execute({ nonce })
    },
  },
  {
    clause: 'client.execute.validity',
    fault: 'It sends a call whose window is over.',
    act: (client) => client.execute({ validityTimestamps: validityOf(0, nowSeconds() - 3600) }),
  },
  {
    clause: 'client.execute.validity',
    fault: 'It has exchanged start and end.',
    act: (client) => client.execute({ validityTimestamps: validityOf(nowSeconds() + 3600, nowSeconds() + 60) }),
  },
  {
    clause: 'client.execute.validity-lossless',
    fault: 'It sends the window as a double.',
    act: async (client) => {
      const message = await client.message({ validityTimestamps: validityOf(1, nowSeconds() + 3600) })
      const { address, transaction } = client.sign(message)
      const validityTimestamps = Number(message.validityTimestamps)
      return client.post('/execute', { address, transaction: { ...transaction, validityTimestamps } })
    },
  },
  {
    clause: 'client.execute.same-call-again',
    fault: 'It signs a call anew, with the next nonce, when its answer is lost.',
    provoked: ['lost'],
    act: async (client) => {
      const payload = client.payload()
      if (!(await client.execute({ payload }))) await client.execute({ payload })
    },
  },
  {
    clause: 'client.execute.no-second-way',
    fault: 'It executes the call itself after any error.',
    provoked: ['broadcast'],
    act: async (client) => {
      const payload = client.payload()
      if ((await client.execute({ payload }))?.status !== 200) await client.executeDirectly(payload)
    },
  },
  {
    clause: 'client.execute.no-credential',
    fault: 'It sends an API key with each call.',
    act: async (client) =>
      client.post('/execute', client.sign(await client.message()), { 'x-api-key': hexlify(randomBytes(16)) }),
  },
  {
    clause: 'client.auth.no-key',
    fault: 'It lets the relay sign.',
    also: ['client.quota.members'],
    act: ({ quota, fixture }) => quota({ signature: undefined, privateKey: fixture.controllers.full.privateKey }),
  },
  {
    clause: 'client.limits.retry-after',
    fault: 'It sends a call again at once, whatever Retry-After says.',
    provoked: ['busy'],
    act: async (client) => {
      const body = client.sign(await client.message())
      if ((await client.post('/execute', body))?.status === 429) await client.post('/execute', body)
    },
  },
]

const ofQuota: readonly ClientMutant[] = [
  {
    clause: 'client.quota.post',
    fault: 'It asks at /api/quota.',
    act: (client) => {
      const message = { address: client.fixture.profile.address, timestamp: nowSeconds() }
      const signature = signQuota(message, client.fixture.controllers.full)
      return client.post('/api/quota', { ...message, signature })
    },
  },
  {
    clause: 'client.quota.members',
    fault: 'It leaves out the address.',
    act: (client) => client.quota({ address: undefined }),
  },
  {
    clause: 'client.quota.timestamp-integer',
    fault: 'It sends the timestamp as a string.',
    act: (client) => client.quota({ timestamp: String(nowSeconds()) }),
  },
  {
    clause: 'client.quota.timestamp-seconds',
    fault: 'It sends milliseconds.',
    act: (client) => quotaAt(client, Date.now()),
  },
  {
    clause: 'client.quota.window',
    fault: 'Its clock is a minute slow.',
    act: (client) => quotaAt(client, nowSeconds() - 60),
  },
  {
    clause: 'client.quota.hash',
    fault: 'It signs the text <address>:<timestamp>.',
    act: (client) => quotaAt(client, undefined, { reading: 'text' }),
  },
  {
    clause: 'client.quota.hash',
    fault: 'It signs the packed hash without the prefix of a personal message.',
    act: (client) => quotaAt(client, undefined, { reading: 'raw digest' }),
  },
  {
    clause: 'client.quota.bound-to-message',
    fault: "It signs the controller's address.",
    act: (client) =>
      quotaSignedOver((right) => ({ ...right, address: client.fixture.controllers.full.address }))(client),
  },
  {
    clause: 'client.quota.bound-to-message',
    fault: 'It signs before it takes the time that it sends.',
    act: quotaSignedOver((right) => ({ ...right, timestamp: right.timestamp - 1 })),
  },
  {
    clause: 'client.quota.sign-permission',
    fault: 'It signs with a controller that may not sign.',
    act: (client) => quotaAt(client, undefined, { controller: client.fixture.controllers.noSign }),
  },
]

const hash = hexlify(randomBytes(32))

const ofEthRpc: readonly ClientMutant[] = [
  {
    clause: 'client.eth-rpc.endpoint',
    fault: 'It sends JSON-RPC to the root, as to a node.',
    act: (client) => client.post('/', { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
  },
  {
    clause: 'client.eth-rpc.version',
    fault: 'It leaves out jsonrpc.',
    act: (client) => client.rpc('eth_blockNumber', [], { jsonrpc: undefined }),
  },
  {
    clause: 'client.eth-rpc.id',
    fault: 'It sends notifications, which have no id.',
    act: (client) => client.rpc('eth_blockNumber', [], { id: undefined }),
  },
  {
    clause: 'client.eth-rpc.method',
    fault: 'It sends a list of methods in one envelope.',
    act: (client) => client.rpc('', [], { method: ['eth_blockNumber', 'eth_chainId'] }),
  },
  {
    clause: 'client.eth-rpc.params-positional',
    fault: 'It sends parameters by name.',
    act: (client) => client.rpc('eth_getBalance', { address: client.fixture.profile.address, block: 'latest' }),
  },
  {
    clause: 'client.eth-rpc.params-empty',
    fault: 'It sends a block to a method without parameters.',
    act: (client) => client.rpc('eth_gasPrice', ['latest']),
  },
  {
    clause: 'client.eth-rpc.params-required',
    fault: 'It leaves out the block of a balance.',
    act: (client) => client.rpc('eth_getBalance', [client.fixture.profile.address]),
  },
  {
    clause: 'client.eth-rpc.address',
    fault: 'It sends a name in place of an address.',
    act: (client) => client.rpc('eth_getBalance', ['alice.lukso', 'latest']),
  },
  {
    clause: 'client.eth-rpc.hash',
    fault: 'It sends a part of a hash.',
    act: (client) => client.rpc('eth_getTransactionReceipt', [hash.slice(0, 20)]),
  },
  {
    clause: 'client.eth-rpc.block',
    fault: 'It writes the block in decimal digits in a string.',
    act: (client) => client.rpc('eth_getBalance', [client.fixture.profile.address, '12']),
  },
  {
    clause: 'client.eth-rpc.page-keys',
    fault: 'It asks for the next page by the block alone.',
    act: (client) => nextPage(client, ({ blockNumber }) => ({ blockNumber })),
  },
  {
    clause: 'client.eth-rpc.page-keys-verbatim',
    fault: 'It asks for the next page with numbers in place of the hex strings.',
    act: (client) =>
      nextPage(client, ({ blockNumber, logIndex }) => ({
        blockNumber: Number(blockNumber),
        logIndex: Number(logIndex),
      })),
  },
  {
    clause: 'client.eth-rpc.page-keys-verbatim',
    fault: 'It adds one to the index of the last entry.',
    act: (client) =>
      nextPage(client, ({ blockNumber, logIndex }) => ({
        blockNumber,
        logIndex: `0x${(Number(logIndex) + 1).toString(16)}`,
      })),
  },
]

/** Clients with one deliberate fault each. */
export const clientMutants: readonly ClientMutant[] = [...ofExecute, ...ofConduct, ...ofQuota, ...ofEthRpc]
