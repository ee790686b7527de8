import { getAddress, hexlify, Signature, toBeHex } from 'ethers'
import type { ClauseId } from '../../specs/index.ts'
import { randomChannel } from '../lib/relay/call.ts'
import { signQuota } from '../lib/relay/message.ts'
import { lastOfFirstPage, nextPage, nowSeconds, validityOf, type PlainClient } from './plain-client.ts'
import type { Step } from './recording.ts'

/** A client that keeps every sentence of both documents, and differs from others where they leave it free. */
export interface LawfulClient {
  /** Unique, in kebab case. */
  readonly id: string
  /** The clauses whose checks could accuse it wrongly. */
  readonly clauses: readonly [ClauseId, ...ClauseId[]]
  /** The sentence, or the silence, of the documents that allows the difference. */
  readonly allowedBy: string
  /** What is done with its calls, from the first on; absent: they are served. */
  readonly provoked?: readonly Step[]
  act(client: PlainClient): Promise<unknown>
}

type Json = Readonly<Record<string, unknown>>

/** Sends a new call in a channel of its own, written otherwise. */
async function written(client: PlainClient, write: (body: { address: string; transaction: Json }) => unknown) {
  const message = await client.message({ nonce: await client.nonce(randomChannel()) })
  return client.post('/execute', write(client.sign(message)))
}

const changed = (change: (transaction: Json) => Json) => (client: PlainClient) =>
  written(client, ({ address, transaction }) => ({ address, transaction: { ...transaction, ...change(transaction) } }))

/** Other bytes of the same signature. */
const otherSignature = (transaction: Json, write: (signature: Signature) => string) => ({
  signature: write(Signature.from(transaction['signature'] as string)),
})

export const lawfulClients: readonly LawfulClient[] = [
  {
    id: 'decimal-nonce',
    clauses: ['client.execute.nonce-integer', 'client.execute.nonce-lossless'],
    allowedBy: 'A string of decimal digits loses nothing; whether it counts as an integer is a question.',
    act: changed(({ nonce }) => ({ nonce: String(nonce) })),
  },
  {
    id: 'hex-nonce',
    clauses: ['client.execute.nonce-integer', 'client.execute.nonce-lossless'],
    allowedBy: 'A string of 32 bytes in hex loses nothing; whether it counts as an integer is a question.',
    act: changed(({ nonce }) => ({ nonce: toBeHex(nonce as bigint, 32) })),
  },
  {
    id: 'compact-signature',
    clauses: ['client.execute.signature', 'client.execute.digest'],
    allowedBy: 'The signature is hex; the document does not say how many bytes (EIP-2098 has 64).',
    act: changed((transaction) => otherSignature(transaction, ({ compactSerialized }) => compactSerialized)),
  },
  {
    id: 'low-v',
    clauses: ['client.execute.signature'],
    allowedBy: 'The document does not say how the last byte of a signature counts: from 0 or from 27.',
    act: changed((transaction) =>
      otherSignature(transaction, ({ r, s, yParity }) => `${r}${s.slice(2)}${yParity === 0 ? '00' : '01'}`),
    ),
  },
  {
    id: 'capital-hex',
    clauses: ['client.execute.hex', 'client.execute.profile'],
    allowedBy: 'Hex has both cases; an address may carry a checksum (EIP-55).',
    act: (client) =>
      written(client, ({ address, transaction }) => ({
        address: getAddress(address),
        transaction: { ...transaction, abi: `0x${(transaction['abi'] as string).slice(2).toUpperCase()}` },
      })),
  },
  {
    id: 'slashes',
    clauses: ['client.execute.post', 'client.quota.post', 'client.eth-rpc.endpoint'],
    allowedBy: 'The documents do not say how a base URL ends.',
    act: async (client) => {
      await client.post('//execute', client.sign(await client.message({ nonce: await client.nonce(randomChannel()) })))
      const message = { address: client.fixture.profile.address, timestamp: nowSeconds() }
      await client.post('//quota', { ...message, signature: signQuota(message, client.fixture.controllers.full) })
      return client.post('//api/eth-rpc', { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
    },
  },
  {
    id: 'more-members',
    clauses: ['client.execute.members', 'client.execute.digest', 'client.execute.validity'],
    allowedBy: 'The document says nothing of members beside those that it lists.',
    act: (client) =>
      written(client, ({ address, transaction }) => ({
        address,
        keyManagerAddress: client.fixture.profile.keyManager,
        transaction: { ...transaction, value: '0x00', validityTimestamps: '0x0' },
      })),
  },
  {
    id: 'open-window',
    clauses: ['client.execute.validity', 'client.execute.validity-lossless', 'client.execute.digest'],
    allowedBy: 'An end of zero is no end (LSP25), so a window may have a start alone.',
    act: async (client) => {
      const nonce = await client.nonce(randomChannel())
      await client.execute({ nonce, validityTimestamps: validityOf(nowSeconds() - 60, 0) })
      return client.execute({ nonce: nonce + 1n, validityTimestamps: validityOf(0, nowSeconds() + 60) })
    },
  },
  {
    id: 'parallel-channels',
    clauses: ['client.execute.channel-order', 'client.execute.nonce'],
    allowedBy: 'Channels have no order among each other (LSP25).',
    act: async (client) => {
      const nonces = await Promise.all([1, 2, 3].map(() => client.nonce(randomChannel())))
      return Promise.all(nonces.map((nonce) => client.execute({ nonce })))
    },
  },
  {
    id: 'ahead-in-a-channel',
    clauses: ['client.execute.nonce', 'client.execute.channel-order'],
    allowedBy: 'Calls that are under way together may arrive in any order; each nonce follows one of the same client.',
    act: async (client) => {
      const nonce = await client.nonce(randomChannel())
      const messages = await Promise.all([2n, 1n, 0n].map((ahead) => client.message({ nonce: nonce + ahead })))
      return Promise.all(messages.map((message) => client.post('/execute', client.sign(message))))
    },
  },
  {
    id: 'same-payload-on-purpose',
    clauses: ['client.execute.same-call-again', 'client.execute.nonce'],
    allowedBy: 'A profile may pay the same amount to the same address as often as it likes.',
    provoked: ['served', 'lost'],
    act: async (client) => {
      const payload = client.payload()
      for (let count = 0; count < 3; count++) await client.execute({ payload })
    },
  },
  {
    id: 'repeats',
    clauses: ['client.execute.nonce', 'client.execute.same-call-again'],
    allowedBy: 'A nonce serves once, so the same call may come as often as the client likes.',
    provoked: ['lost', 'broadcast'],
    act: async (client) => {
      for (let count = 0; count < 2; count++) {
        const body = client.sign(await client.message())
        for (let attempt = 0; attempt < 3; attempt++) await client.post('/execute', body)
      }
    },
  },
  {
    id: 'gives-up',
    clauses: ['client.execute.same-call-again', 'client.execute.no-second-way', 'client.limits.retry-after'],
    allowedBy: 'No sentence asks a client to send a call again.',
    provoked: ['lost', 'busy', 'broadcast', 'refused'],
    act: async (client) => {
      for (let count = 0; count < 5; count++) await client.execute()
    },
  },
  {
    id: 'falls-back',
    clauses: ['client.execute.no-second-way'],
    allowedBy: 'After an answer that says broadcast: false, nobody else executes the call.',
    provoked: ['refused', 'broadcast'],
    act: async (client) => {
      for (let count = 0; count < 2; count++) {
        const payload = client.payload()
        const answered = await client.execute({ payload })
        const { broadcast } = (answered?.json ?? {}) as { broadcast?: boolean }
        if (broadcast === false) await client.executeDirectly(payload)
      }
    },
  },
  {
    id: 'another-call-in-its-place',
    clauses: ['client.execute.nonce', 'client.execute.same-call-again'],
    allowedBy: 'The nonce of a call that was refused is still the next one of the key manager.',
    provoked: ['refused'],
    act: async (client) => {
      const nonce = await client.nonce()
      await client.execute({ nonce })
      return client.execute({ nonce })
    },
  },
  {
    id: 'replaces-a-lost-call',
    clauses: ['client.execute.nonce'],
    allowedBy: 'A nonce serves once, so of two calls with the nonce of a lost one a single one is executed.',
    provoked: ['lost'],
    act: async (client) => {
      const nonce = await client.nonce()
      await client.execute({ nonce })
      return client.execute({ nonce })
    },
  },
  {
    id: 'patient',
    clauses: ['client.limits.retry-after'],
    allowedBy: 'Retry-After says when a request may come again at the earliest.',
    provoked: ['busy'],
    act: async (client) => {
      const body = client.sign(await client.message())
      const answered = await client.post('/execute', body)
      await client.wait(Number(answered?.headers.get('retry-after')))
      return client.post('/execute', body)
    },
  },
  {
    id: 'controller-without-sign',
    clauses: ['client.execute.signature'],
    allowedBy: 'SIGN is asked for at /quota alone; a relay call takes EXECUTE_RELAY_CALL (LSP6).',
    act: async (client) => {
      const { noSign } = client.fixture.controllers
      const message = await client.message({ nonce: await client.nonce(0n, noSign) })
      return client.post('/execute', client.sign(message, undefined, noSign))
    },
  },
  {
    id: 'quota-of-three-seconds-ago',
    clauses: ['client.quota.window', 'client.quota.hash'],
    allowedBy: 'The window is plus or minus 5 seconds.',
    act: async (client) => {
      for (const timestamp of [nowSeconds() - 3, nowSeconds() + 4]) {
        const address = client.fixture.profile.address.toLowerCase()
        const signature = signQuota({ address, timestamp }, client.fixture.controllers.full)
        await client.quota({ address, timestamp, signature })
      }
    },
  },
  {
    id: 'rpc-as-libraries-send-it',
    clauses: ['client.eth-rpc.id', 'client.eth-rpc.params-positional', 'client.eth-rpc.block', 'client.eth-rpc.method'],
    allowedBy:
      'A client can send requests of the standard format unchanged: string ids, params left out, batches, tags.',
    act: async (client) => {
      const { address } = client.fixture.profile
      await client.rpc('eth_chainId', undefined, { id: '7f8f8a1e-7b3c-4a44-9a6f-0d9b5c1f2a3e' })
      await client.rpc('eth_getBalance', [address, 'finalized'])
      await client.rpc('eth_getBalance', [address, { blockNumber: '0x1' }])
      await client.rpc('eth_getBalance', [address, 1])
      await client.rpc('eth_call', [{ to: address, data: '0x' }, 'latest'])
      const one = (id: number) => ({ jsonrpc: '2.0', id, method: 'eth_blockNumber', params: [] })
      return client.post('/api/eth-rpc', [one(1), one(2)])
    },
  },
  {
    id: 'pages-with-a-third-key',
    clauses: ['client.eth-rpc.page-keys', 'client.eth-rpc.page-keys-verbatim'],
    allowedBy: 'The third of the three pagination parameters is not shown, nor where they stand.',
    act: async (client) => {
      await nextPage(client, (last) => ({ ...last, transactionIndex: 0 }))
      const { logIndex, blockNumber } = await lastOfFirstPage(client)
      const emitter = client.fixture.logs?.emitter
      return client.rpc('eth_getLogs', [{ address: emitter, fromBlock: '0x0', logIndex, blockNumber }])
    },
  },
  {
    id: 'other-endpoints',
    clauses: ['client.execute.post', 'client.eth-rpc.endpoint', 'client.quota.post'],
    allowedBy: 'A relay may serve more than the documents say, at other paths.',
    act: async (client) => {
      const body = client.sign(await client.message())
      await client.post('/simulate', body)
      await client.post('/status', { address: body.address, timestamp: nowSeconds(), signature: '0x' })
      await client.post('/bundler', { jsonrpc: '2.0', id: 1, method: 'eth_supportedEntryPoints', params: [] })
      return client.post('/execute', body)
    },
  },
  {
    id: 'headers-of-its-own',
    clauses: ['client.execute.no-credential', 'client.auth.no-key'],
    allowedBy: 'No sentence speaks of other headers, and a random text is no credential.',
    act: async (client) =>
      client.post('/execute', client.sign(await client.message()), {
        'access-control-allow-origin': '*',
        'x-request-id': hexlify(new Uint8Array(16).fill(7)),
        'user-agent': 'dapp/1.0',
      }),
  },
]
