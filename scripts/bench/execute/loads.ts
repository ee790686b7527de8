import { keccak256, toQuantity, toUtf8Bytes } from 'ethers'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import {
  runLoad,
  type LoadResult,
  countedBy,
  nothingLeftOf,
  runUntilMined,
  transactionCounts,
} from '../support/load.ts'
import {
  createPoster,
  signedCall,
  type RelayWorld,
  createRpcClient,
  rpcBody,
  type RpcClient,
} from '../../../testbed/relay-world.ts'
import { byWebSocket } from '../../../testbed/processes.ts'
import { signerFromKey, type SignerAccount } from '../../../server/services/signers/signers.ts'
import { holdForThisTurn } from '../../../server/services/node/websocket-node.ts'

/**
 * Relays calls through `POST /execute`.
 *
 * @param url base URL of the server
 * @param isBundling whether calls share transactions, so that there are fewer transactions than calls
 * @returns the result; its rate counts the time until all calls are mined
 */
export async function runRelays(
  world: RelayWorld,
  url: string,
  nonces: LoadNonces,
  load: RelayLoad,
  isBundling: boolean,
): Promise<LoadResult> {
  const relay = createPoster(url, load.workers)
  const prepared = nonces.take(load).map((own) => own.map(({ channel, id }) => signedCall(world, channel, id).body))
  const send = async (worker: number, index: number) => {
    await relay.execute(prepared[worker]?.[index] ?? '')
  }
  try {
    return await runUntilMined(
      world.rpcUrl,
      () => runLoad(load, send),
      (isBundling ? nothingLeftOf : countedBy)(world.signers),
    )
  } finally {
    await relay.close()
  }
}

const GAS_LIMIT = 200_000n
const FEES = { type: 2, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n } as const

/** An account that only the floor uses. */
interface FloorSender {
  readonly account: SignerAccount
  /** The account's next nonce. */
  nonce: number
}

/** Makes accounts with native coin, the same ones on every chain. */
export async function createSenders({ rpcUrl }: RelayWorld, count: number): Promise<FloorSender[]> {
  const node = createRpcClient(rpcUrl, 1)
  const senders: FloorSender[] = []
  while (senders.length < count) {
    const account = signerFromKey(keccak256(toUtf8Bytes(`floor ${senders.length}`)))
    // anvil has this method of Hardhat, too.
    await node.call('hardhat_setBalance', account.address, toQuantity(10n ** 18n))
    senders.push({ account, nonce: 0 })
  }
  await node.close()
  return senders
}

/**
 * Does the least work of relaying: for each call one eth_call and one eth_sendRawTransaction, sent to the node itself.
 *
 * @param senders at least one for each worker; the senders of a worker take turns
 * @returns the result; its rate counts the time until all transactions are mined
 */
export async function runFloor(
  world: RelayWorld,
  senders: readonly FloorSender[],
  nonces: LoadNonces,
  load: RelayLoad,
): Promise<LoadResult> {
  const each = Math.floor(senders.length / load.workers)
  const last = new Set<FloorSender>()
  let lastId = 0
  const prepared = nonces.take(load).map((wanted, worker) => {
    const own = senders.slice(worker * each, (worker + 1) * each)
    return wanted.map((nonce, index, { length }) => {
      const sender = own[index % each]
      if (!sender) throw new RangeError(`${senders.length} senders for ${load.workers} workers`)
      if (index === length - 1) last.add(sender)
      return requests(world, sender, nonce).map(([method, params]) => {
        const id = ++lastId
        return { id, body: rpcBody(method, params, id) }
      })
    })
  })
  const node = await openRpcSocket(byWebSocket(world.rpcUrl))
  const send = async (worker: number, index: number) => {
    for (const { id, body } of prepared[worker]?.[index] ?? []) {
      const { error } = await node.ask(id, body)
      if (error !== undefined) throw new Error(`floor: ${JSON.stringify(error)}`)
    }
  }
  const areMined = async (rpc: RpcClient, some: readonly FloorSender[]) => {
    const counts = await transactionCounts(
      rpc,
      some.map(({ account }) => account.address),
    )
    return counts.every((count, index) => count === some[index]?.nonce)
  }
  try {
    return await runUntilMined(
      world.rpcUrl,
      () => runLoad(load, send),
      // While it still mines, the node is not asked for more than the last ones.
      async (rpc) => async () => (await areMined(rpc, [...last])) && areMined(rpc, senders),
    )
  } finally {
    await node.close()
  }
}

/** The two requests of a relay call to the node, from the sender's account. */
function requests(world: RelayWorld, sender: FloorSender, { channel, id }: ChannelNonce) {
  const { account } = sender
  const { callData: data } = signedCall(world, channel, id)
  const to = world.fixture.profile.keyManager
  const chainId = BigInt(world.chainId)
  const { raw } = account.sign({ chainId, nonce: sender.nonce++, to, gasLimit: GAS_LIMIT, data, fees: FEES })
  return [
    ['eth_call', [{ from: account.address, to, data }, 'latest']],
    ['eth_sendRawTransaction', [raw]],
  ] as const
}

/** Calls that several workers make at the same time. */
interface RelayLoad {
  readonly workers: number
  /** Calls of all workers together. */
  readonly tasks: number
}

/** A key manager's nonce (LSP25), by its parts. */
interface ChannelNonce {
  readonly channel: bigint
  readonly id: bigint
}

/** The nonces of loads on a chain. A load begins when the load before it is mined. */
interface LoadNonces {
  /** @returns one for each of the load's tasks, by worker */
  take(load: RelayLoad): ChannelNonce[][]
}

/**
 * Gives each call of a load a channel of its own, so that no call has to wait until another one is mined. The next load uses the
 * same channels again, so that the chain's state does not grow with every call.
 */
export function createLoadNonces(): LoadNonces {
  const nextIds = new Map<bigint, bigint>()
  return {
    take: ({ workers, tasks }) => {
      const each = Math.ceil(tasks / workers)
      return Array.from({ length: workers }, (_, worker) =>
        Array.from({ length: each }, (_, index) => {
          const channel = BigInt(1 + worker * each + index)
          const id = nextIds.get(channel) ?? 0n
          nextIds.set(channel, id + 1n)
          return { channel, id }
        }),
      )
    },
  }
}

interface Answer {
  readonly id: number
  readonly error?: unknown
}

/** A bare WebSocket to a node. The requests of one turn of the event loop are sent in one piece. */
interface RpcSocket {
  /** @param body a JSON-RPC call with this id, which no other call has */
  ask(id: number, body: string): Promise<Answer>
  close(): Promise<void>
}

async function openRpcSocket(url: string): Promise<RpcSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  const waiting = new Map<number, (answer: Answer) => void>()
  socket.on('message', (data: Buffer) => {
    const answer = JSON.parse(data.toString()) as Answer
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  let carrier: Socket | undefined
  socket.on('upgrade', (response) => (carrier = response.socket))
  await once(socket, 'open')
  return {
    ask: (id, body) =>
      new Promise((resolve) => {
        waiting.set(id, resolve)
        if (carrier) holdForThisTurn(carrier)
        socket.send(body)
      }),
    close: async () => {
      socket.close()
      await once(socket, 'close')
    },
  }
}
