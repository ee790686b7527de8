import { hexlify, keccak256, randomBytes } from 'ethers'
import type { ClauseId } from '../../../specs/index.ts'
import { defineLawful, respond, type Alteration, type Handler, type Lawful } from '../../altered/define.ts'
import { limited, retryAfter, untoldLimits } from '../../altered/lib/answers.ts'
import { keepsBooks } from '../../altered/lib/quota.ts'
import {
  alterAnswer,
  forwarded,
  forwarder,
  isSignedByFull,
  mined,
  ownAccount,
  relayCallData,
  requestObject,
  resigned,
  sendFrom,
  signedByFull,
  type Transaction,
  wholeTransaction,
} from '../../altered/lib/relay.ts'
import { keyManagerAbi, profileAbi } from '../../lib/relay/contracts.ts'

/** The answer with its hash in another spelling, or with other members. */
function hashAs(alter: (hash: string) => Readonly<Record<string, unknown>>): Handler {
  return alterAnswer('transactionHash', ({ transactionHash }) => alter(String(transactionHash)))
}

function withStatus(status: number): Handler {
  return async (request, forward) => {
    const response = await forward(request)
    return response.status === 200 ? { ...response, status } : response
  }
}

/** The books of a relay that sends the transactions itself. */
const books = keepsBooks({ total: 10n ** 12n, unit: 'gas', cost: ({ gasUsed }) => gasUsed })

/**
 * The alteration sends the valid calls of the fixture's controller, and keeps the books on them. The reference
 * server gets the others.
 */
function sending(send: Handler, kept = books): Required<Pick<Alteration, 'execute' | 'quota'>> {
  const own: Handler = async (request, forward, tools) => {
    const transaction = wholeTransaction(request)
    const { address } = tools.fixture.profile
    // The reference server refuses a call that is not for the profile.
    const isForProfile = requestObject(request)['address'] === address
    if (!isForProfile || !transaction || !isSignedByFull(tools, transaction)) return forward(request)
    // One call after the other: the chain then says whether a call can be executed now. The reference server refuses or
    // queues the others.
    const before = tools.memory.get('sending') as Promise<unknown> | undefined
    const sending = Promise.withResolvers<void>()
    tools.memory.set('sending', sending.promise)
    await before
    try {
      return await sendNext(request, forward, tools, transaction)
    } finally {
      sending.resolve()
    }
  }

  async function sendNext(...[request, forward, tools, transaction]: [...Parameters<Handler>, Transaction]) {
    const { keyManager } = tools.fixture.profile
    const call = { from: ownAccount(0).address, to: keyManager, data: relayCallData(transaction) }
    const runs = await tools.chain('eth_call', [call, 'latest']).then(
      () => true,
      () => false,
    )
    if (!runs) return forward(request)
    // The chain takes one of two calls at the same time.
    return send(request, forward, tools).catch(() => forward(request))
  }
  return {
    execute: (request, forward, tools) => kept.execute(request, (sent) => own(sent, forward, tools), tools),
    quota: kept.quota,
  }
}

function dataOf(request: Parameters<Handler>[0]): string {
  const transaction = wholeTransaction(request)
  return transaction ? relayCallData(transaction) : '0x'
}

/** A data key that no check looks at. */
const otherKey = keccak256('0x0b')

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Takes the next nonce of an account for the call of a request.
 *
 * @returns what signs the transaction with a gas price
 */
async function ownTransaction(
  ...[request, _forward, tools]: Parameters<Handler>
): Promise<(gwei: bigint) => Promise<string>> {
  const account = ownAccount(1)
  const turn = (tools.memory.get('turn') ?? Promise.resolve()) as Promise<unknown>
  const numbering = turn.then(async () => {
    const nonce = (tools.memory.get('nonce') ??
      Number(await tools.chain('eth_getTransactionCount', [account.address, 'pending']))) as number
    tools.memory.set('nonce', nonce + 1)
    return nonce
  })
  tools.memory.set('turn', numbering)
  const nonce = await numbering
  return (gwei) =>
    account.signTransaction({
      nonce,
      to: tools.fixture.profile.keyManager,
      data: dataOf(request),
      chainId: tools.fixture.chain.chainId,
      gasLimit: 500_000,
      gasPrice: gwei * 1_000_000_000n,
      type: 0,
    })
}

/** Sends a signed transaction so many milliseconds later. */
function sendLater({ chain }: Parameters<Handler>[2], signed: string, delayMs: number): void {
  setTimeout(() => void chain('eth_sendRawTransaction', [signed]).catch(() => undefined), delayMs)
}

/** Signs at once, answers with the hash, and sends so many milliseconds later. */
function sendsLater(delayMs: number): Handler {
  return async (...[request, forward, tools]) => {
    const sign = await ownTransaction(request, forward, tools)
    const signed = await sign(20n)
    sendLater(tools, signed, delayMs)
    return respond(200, { transactionHash: keccak256(signed) })
  }
}

/** Sends at a low price, answers with the hash, and replaces the transaction by a dearer one while it is pending. */
const replacing: Handler = async (...[request, forward, tools]) => {
  const sign = await ownTransaction(request, forward, tools)
  const [first, second] = await Promise.all([sign(20n), sign(40n)])
  await tools.chain('eth_sendRawTransaction', [first])
  sendLater(tools, second, 200)
  return respond(200, { transactionHash: keccak256(first) })
}

/** Refusals name a hash that no transaction has, such as that of the message. */
function refusingWithHashes({ execute, ...rest }: ReturnType<typeof sending>): ReturnType<typeof sending> {
  return {
    ...rest,
    execute: async (request, forward, tools) => {
      const response = await execute(request, forward, tools)
      const isRefusal = response.status >= 400
      return isRefusal ? respond(response.status, { transactionHash: hexlify(randomBytes(32)) }) : response
    },
  }
}

/** These need several calls at a time, which a limit may refuse. */
const limitedCalls: readonly ClauseId[] = [
  'relay.execute.channel-order',
  'relay.execute.channels',
  'relay.execute.permission',
  'relay.execute.repeat',
  'relay.execute.validity-timestamps',
]

/** After three refusals in a row for want of a right signature, the server refuses everything for eight seconds. */
function lockedOut(status: number, message: string, more = 'after-forged-signatures'): Lawful {
  const most = 3
  const lock: Handler = async (request, forward, { memory }) => {
    if (Date.now() < Number(memory.get('locked until') ?? 0)) return respond(status, { message })
    const response = await forward(request)
    const inARow = response.status === 401 ? Number(memory.get('refused in a row') ?? 0) + 1 : 0
    memory.set('refused in a row', inARow % most)
    if (inARow === most) memory.set('locked until', Date.now() + 8000)
    return response
  }
  return defineLawful({
    id: `locks-callers-out-by-${status}-${more}`,
    clauses: ['relay.execute.post', 'relay.quota.post'],
    allowedBy: 'relay 8: "Rate limits … not shown"',
    mayFail: limitedCalls,
    execute: lock,
    quota: lock,
  })
}

export default [
  defineLawful({
    id: 'answers-201',
    clauses: ['relay.execute.post', 'relay.execute.response'],
    allowedBy: 'relay 4 and 7: the status of a success is not shown; 201 is one',
    execute: withStatus(201),
  }),

  defineLawful({
    id: 'answers-202',
    clauses: ['relay.execute.post', 'relay.execute.response'],
    allowedBy: 'relay 4 and 7: the status of a success is not shown; 202 is one',
    execute: withStatus(202),
  }),

  defineLawful({
    id: 'adds-members-to-the-hash',
    clauses: ['relay.execute.response'],
    allowedBy: 'relay 2 lists transactionHash; that nothing else may stand beside it is not shown',
    execute: hashAs((transactionHash) => ({
      status: 'submitted',
      message: 'ok',
      error: null,
      transactionHash,
      hash: transactionHash,
      relay: { queue: 0, estimate: 1.5 },
    })),
  }),

  defineLawful({
    id: 'writes-the-hash-in-capitals',
    clauses: ['relay.execute.response', 'relay.execute.hash-of-transaction'],
    allowedBy: 'relay 2: "string, hex": the case of the digits is not shown',
    execute: hashAs((hash) => ({ transactionHash: `0x${hash.slice(2).toUpperCase()}` })),
  }),

  // Debatable: read as "hex" with or without the prefix, since the document shows no example.
  defineLawful({
    id: 'writes-the-hash-without-0x',
    clauses: ['relay.execute.response', 'relay.execute.hash-of-transaction'],
    allowedBy: 'relay 2: transactionHash is "string, hex"; whether 0x stands before the digits is not shown',
    execute: hashAs((hash) => ({ transactionHash: hash.slice(2) })),
  }),

  defineLawful({
    id: 'writes-the-hash-with-a-capital-x',
    clauses: ['relay.execute.response', 'relay.execute.hash-of-transaction'],
    allowedBy: 'relay 2: "string, hex": the case of its letters is not shown',
    execute: hashAs((hash) => ({ transactionHash: hash.replace('0x', '0X') })),
  }),

  defineLawful({
    id: 'nests-hashes-beside-the-hash',
    clauses: ['relay.execute.response', 'relay.execute.hash-of-transaction'],
    allowedBy: 'relay 2 lists transactionHash; what stands beside it, and within, is not shown',
    execute: hashAs((transactionHash) => ({
      request: { transactionHash: keccak256(transactionHash), hash: null },
      transactionHash,
      userOperationHash: keccak256(transactionHash),
    })),
  }),

  defineLawful({
    id: 'takes-two-calls-a-second',
    clauses: ['relay.execute.post', 'relay.execute.signature-authenticates'],
    allowedBy: 'relay 8: "Rate limits … not shown"',
    mayFail: ['relay.execute.channel-order', 'relay.execute.repeat'],
    execute: limited({
      requests: 2,
      windowMs: 1000,
      refuse: (leftMs) => respond(429, { message: 'two calls a second' }, retryAfter(leftMs)),
    }),
  }),

  defineLawful({
    id: 'takes-eight-calls-in-twenty-seconds-and-says-so-by-400',
    clauses: ['relay.execute.post'],
    allowedBy: 'relay 8: "Rate limits … not shown"',
    mayFail: limitedCalls,
    execute: limited({
      requests: 8,
      windowMs: 20_000,
      refuse: () => respond(400, { message: 'rate limit exceeded' }),
    }),
  }),

  ...untoldLimits.map(([how, refusal]) =>
    defineLawful({
      id: `takes-eight-calls-in-twelve-seconds-and-${how}`,
      clauses: ['relay.execute.post'],
      allowedBy: 'relay 7, 8: rate limits are not shown, nor what a target says that has one',
      mayFail: limitedCalls,
      execute: limited({ requests: 8, windowMs: 12_000, refuse: () => refusal }),
    }),
  ),

  lockedOut(401, 'Invalid signature', 'and-hides-why'),
  lockedOut(403, 'Account temporarily locked'),
  lockedOut(500, 'Internal Server Error', 'and-hides-why'),
  lockedOut(401, 'Too many failed attempts'),

  defineLawful({
    id: 'takes-five-calls-in-eight-seconds',
    clauses: ['relay.execute.post', 'relay.execute.signature-authenticates'],
    allowedBy: 'relay 8: "Rate limits … not shown"',
    mayFail: ['relay.execute.channel-order', 'relay.execute.repeat'],
    execute: limited({
      requests: 5,
      windowMs: 8000,
      refuse: (leftMs) => respond(403, { message: 'a secondary limit is reached' }, retryAfter(leftMs)),
    }),
  }),

  defineLawful({
    id: 'refuses-while-a-call-is-pending',
    clauses: ['relay.execute.post', 'relay.execute.channel-order'],
    allowedBy: 'relay 4: whether calls wait for each other is not shown',
    environment: { chain: { blockTimeSeconds: 1 } },
    mayFail: ['relay.execute.channel-order', 'relay.execute.repeat', 'relay.execute.channels'],
    async execute(request, forward, { memory, chain }) {
      const last = memory.get('last')
      const isPending = last !== undefined && !(await chain('eth_getTransactionReceipt', [last]))
      if (isPending) return respond(409, { message: 'a call is pending' })
      const response = await forward(request)
      const { transactionHash } = (response.json ?? {}) as { transactionHash?: unknown }
      if (transactionHash !== undefined) memory.set('last', transactionHash)
      return response
    },
  }),

  defineLawful({
    id: 'answers-late',
    clauses: ['relay.execute.post', 'relay.execute.channel-order'],
    allowedBy: 'relay 4: how long an answer takes is not shown',
    async execute(request, forward) {
      const response = await forward(request)
      await pause(2500)
      return response
    },
  }),

  defineLawful({
    id: 'waits-for-the-receipt',
    clauses: ['relay.execute.post', 'relay.execute.channel-order'],
    allowedBy: 'relay 4.3: when transactionHash is returned is not shown; after the transaction is mined is possible',
    async execute(request, forward, tools) {
      const response = await forward(request)
      const { transactionHash } = (response.json ?? {}) as { transactionHash?: unknown }
      if (typeof transactionHash === 'string') await mined(tools, transactionHash)
      return response
    },
  }),

  defineLawful({
    id: 'waits-for-the-receipt-of-slow-blocks',
    clauses: ['relay.execute.post', 'relay.execute.channel-order'],
    allowedBy: 'relay 4.3: when transactionHash is returned is not shown; after the transaction is mined is possible',
    environment: { chain: { blockTimeSeconds: 1 } },
    async execute(request, forward, tools) {
      const response = await forward(request)
      const { transactionHash } = (response.json ?? {}) as { transactionHash?: unknown }
      if (typeof transactionHash === 'string') await mined(tools, transactionHash)
      return response
    },
  }),

  defineLawful({
    id: 'replaces-its-transactions-by-dearer-ones',
    clauses: ['relay.execute.post', 'relay.execute.hash-of-transaction', 'relay.execute.on-behalf'],
    allowedBy:
      'relay 2: "Hash of the transaction, calculated by the service"; that the fee stays as it is is not shown',
    environment: { chain: { blockTimeSeconds: 1 } },
    // The chain does not take the next nonce of the channel before the block is there.
    mayFail: ['relay.execute.channel-order', 'relay.execute.repeat'],
    // It counts a call when it accepts it, whatever the hash under which the call is mined.
    ...sending(replacing, keepsBooks({ unit: 'transactionCount', total: 10_000n, cost: () => 1n, reserve: 1n })),
  }),

  defineLawful({
    id: 'calculates-the-hash-and-sends-later',
    clauses: ['relay.execute.hash-of-transaction', 'relay.execute.post'],
    allowedBy: 'relay 2: the hash is "calculated by the service"; that the chain knows it at once is not shown',
    // The chain does not take the next nonce of the channel before, so a call that is sent later uses another channel.
    mayFail: ['relay.execute.channel-order', 'relay.execute.repeat'],
    ...sending(sendsLater(1000)),
  }),

  defineLawful({
    id: 'sends-seconds-later-and-refuses-with-hashes-of-nothing',
    clauses: ['relay.execute.hash-of-transaction', 'relay.execute.post', 'relay.execute.signature-authenticates'],
    allowedBy: 'relay 2: the hash is "calculated by the service"; relay 7: what an error holds is not shown',
    mayFail: ['relay.execute.channel-order', 'relay.execute.repeat'],
    ...refusingWithHashes(sending(sendsLater(6000))),
  }),

  defineLawful({
    id: 'sends-through-a-forwarder',
    clauses: ['relay.execute.execute-relay-call', 'relay.execute.on-behalf'],
    allowedBy: 'relay 1: "by calling the contract function executeRelayCall()": by which path is not shown',
    ...sending(async (request, _forward, tools) => {
      const to = await forwarder(tools)
      const data = forwarded(tools.fixture.profile.keyManager, dataOf(request))
      return respond(200, { transactionHash: await sendFrom(tools, { to, data }) })
    }),
  }),

  defineLawful({
    id: 'sends-in-a-batch',
    clauses: ['relay.execute.execute-relay-call', 'relay.execute.on-behalf'],
    allowedBy: 'relay 1: executeRelayCall() is called; the batch form of the key manager calls it for each call',
    ...sending(async (request, _forward, tools) => {
      const transaction = wholeTransaction(request)
      if (!transaction) throw new Error('no transaction')
      const { signature, nonce, validityTimestamps, abi } = transaction
      const data = keyManagerAbi.encodeFunctionData('executeRelayCallBatch', [
        [signature],
        [nonce],
        [validityTimestamps],
        [0n],
        [abi],
      ])
      const to = tools.fixture.profile.keyManager
      return respond(200, { transactionHash: await sendFrom(tools, { to, data }) })
    }),
  }),

  defineLawful({
    id: 'shares-transactions-between-calls',
    clauses: [
      'relay.execute.execute-relay-call',
      'relay.execute.on-behalf',
      'relay.quota.total-is-available-plus-used',
    ],
    allowedBy:
      'relay 1: "by calling the contract function executeRelayCall()": that a transaction carries no other calls is not ' +
      'shown, nor how the gas of such a transaction is divided',
    ...sending(
      async (request, _forward, tools) => {
        const transaction = wholeTransaction(request)
        if (!transaction) throw new Error('no transaction')
        // The other call takes several times the gas of this one.
        const other = signedByFull(
          tools,
          profileAbi.encodeFunctionData('setData', [otherKey, hexlify(randomBytes(640))]),
        )
        const calls = [transaction, { ...other, validityTimestamps: 0n } as unknown as Transaction]
        const data = keyManagerAbi.encodeFunctionData('executeRelayCallBatch', [
          calls.map(({ signature }) => signature),
          calls.map(({ nonce }) => nonce),
          calls.map(({ validityTimestamps }) => validityTimestamps),
          calls.map(() => 0n),
          calls.map(({ abi }) => abi),
        ])
        return respond(200, { transactionHash: await sendFrom(tools, { to: tools.fixture.profile.keyManager, data }) })
      },
      keepsBooks({ total: 10n ** 12n, unit: 'gas', cost: () => 50_000n }),
    ),
  }),

  // Calls of others come with each call, and wait for the same account.
  defineLawful({
    id: 'bundles-calls-that-come-together',
    clauses: [
      'relay.execute.hash-of-transaction',
      'relay.execute.execute-relay-call',
      'relay.execute.on-behalf',
      'relay.quota.total-is-available-plus-used',
    ],
    allowedBy:
      'relay 1: "by calling the contract function executeRelayCall()": that no other contract stands between, and that ' +
      'calls have a hash each, is not shown',
    environment: { bundles: true },
    execute: async (request, forward, tools) => {
      const others = Array.from({ length: 8 }, () => {
        const abi = profileAbi.encodeFunctionData('setData', [hexlify(randomBytes(32)), hexlify(randomBytes(32))])
        return forward(resigned(request, tools, abi))
      })
      const [response] = await Promise.all([forward(request), ...others])
      return response
    },
  }),

  defineLawful({
    id: 'sends-legacy-transactions',
    clauses: ['relay.execute.execute-relay-call', 'eth-rpc.eth_getTransactionByHash.success'],
    allowedBy: 'relay 1: the type of the transaction is not shown',
    ...sending(async (request, _forward, tools) => {
      const legacy = { to: tools.fixture.profile.keyManager, data: dataOf(request), gasPrice: '0x4a817c800' }
      return respond(200, { transactionHash: await sendFrom(tools, legacy) })
    }),
  }),

  defineLawful({
    id: 'relays-on-a-chain-without-fees',
    clauses: ['relay.quota.total-is-available-plus-used', 'relay.execute.execute-relay-call'],
    allowedBy: 'relay 2: quota is in the unit given by unit: where gas costs nothing, a call uses no lyx',
    untestable: ['relay.quota.total-is-available-plus-used'],
    environment: { chain: { hardfork: 'berlin' } },
    ...sending(
      async (request, _forward, tools) => {
        const free = { to: tools.fixture.profile.keyManager, data: dataOf(request), gasPrice: '0x0' }
        return respond(200, { transactionHash: await sendFrom(tools, free) })
      },
      keepsBooks({ unit: 'lyx', total: 5n, cost: ({ gasUsed, priceWei }) => gasUsed * priceWei }),
    ),
  }),

  defineLawful({
    id: 'sends-from-changing-accounts',
    clauses: ['relay.execute.execute-relay-call'],
    allowedBy: 'relay 1: who sends the transaction is not shown',
    ...sending(async (request, _forward, tools) => {
      const turn = Number(tools.memory.get('turn') ?? 0)
      tools.memory.set('turn', turn + 1)
      const sent = { to: tools.fixture.profile.keyManager, data: dataOf(request) }
      return respond(200, { transactionHash: await sendFrom(tools, sent, ownAccount(turn % 3).address) })
    }),
  }),

  defineLawful({
    id: 'asks-no-token-and-reads-none',
    clauses: ['relay.execute.signature-authenticates', 'relay.auth.no-other-credential'],
    allowedBy:
      'relay 5: "Credential-based access (keys, tokens) beyond this: not shown": one that is sent may be refused',
    every: async (request, forward) =>
      'authorization' in request.headers || 'x-api-key' in request.headers
        ? respond(401, { message: 'no tokens here' }, { 'www-authenticate': 'Bearer' })
        : forward(request),
  }),

  // The relay simulates on a node that is a second behind the others.
  defineLawful({
    id: 'learns-of-its-executions-a-second-late',
    clauses: ['relay.execute.post', 'relay.execute.channel-order', 'relay.execute.bad-signature'],
    allowedBy: 'relay 7: what is refused, and in what state of the chain, is not shown',
    // It cannot take calls that follow each other at once.
    mayFail: ['relay.execute.channel-order', 'relay.execute.repeat'],
    async execute(request, forward, { memory }) {
      const { nonce } = wholeTransaction(request) ?? {}
      const last = memory.get('last') as { readonly nonce: bigint; readonly atMs: number } | undefined
      const isNext = nonce !== undefined && last?.nonce === nonce - 1n
      if (isNext && Date.now() - last.atMs < 1200) return respond(400, { error: 'InvalidRelayNonce' })
      const response = await forward(request)
      if (response.status === 200) memory.set('last', { nonce, atMs: Date.now() })
      return response
    },
  }),
]
