import { keccak256, toQuantity, toUtf8Bytes } from 'ethers'
import { byWebSocket } from '../../../testbed/processes.ts'
import { signerFromKey, type SignerAccount } from '../../../server/services/signers/signer-account.ts'
import { runLoad, type LoadResult } from '../support/load.ts'
import { runUntilMined, transactionCounts } from '../support/mined.ts'
import { signedCall, type RelayWorld, createRpcClient, rpcBody, type RpcClient } from '../../../testbed/relay-world.ts'
import { openRpcSocket } from '../support/rpc-socket.ts'
import type { ChannelNonce, LoadNonces, RelayLoad } from './relay-load.ts'

const GAS_LIMIT = 200_000n
const FEES = { type: 2, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n } as const

/** An account that only the floor uses. */
export interface FloorSender {
  readonly account: SignerAccount
  /** The account's next nonce. */
  nonce: number
}

/** Gives accounts native coin, the same ones on every chain. */
export async function createSenders({ rpcUrl }: RelayWorld, count: number): Promise<FloorSender[]> {
  const node = createRpcClient(rpcUrl, 1)
  const senders: FloorSender[] = []
  while (senders.length < count) {
    const account = signerFromKey(keccak256(toUtf8Bytes(`floor ${senders.length}`)))
    // anvil knows Hardhat's method, too.
    await node.call('hardhat_setBalance', account.address, toQuantity(10n ** 18n))
    senders.push({ account, nonce: 0 })
  }
  await node.close()
  return senders
}

/**
 * The least that relaying takes: one eth_call and one eth_sendRawTransaction each, straight to the node, nothing else.
 *
 * @param senders at least one for each worker, whose own ones send by turns
 * @returns what it came to; the rate counts the time until all is mined
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

/** What a relay call takes of a node, in the sender's name. */
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
