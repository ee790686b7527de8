import { keccak256, toQuantity, toUtf8Bytes } from 'ethers'
import { byWebSocket } from '../../../contracts/by-websocket.ts'
import { signerFromKey } from '../../../server/services/signers/signer-account.ts'
import { runLoad, type LoadResult } from '../support/load.ts'
import { runUntilMined } from '../support/mined.ts'
import { signedCall, type RelayWorld } from '../support/relay-world.ts'
import { createRpcClient, rpcBody } from '../support/rpc.ts'
import { openRpcSocket } from '../support/rpc-socket.ts'
import { channelsOf, type RelayLoad } from './relay-load.ts'

/** Every worker sends from an account of its own: nobody waits for another one's nonce. */
const GAS_LIMIT = 200_000n
const FEES = { type: 2, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n } as const

/**
 * The least that relaying takes: one eth_call and one eth_sendRawTransaction each, straight to the node, nothing else.
 *
 * @returns what it came to; the rate counts the time until all is mined
 */
export async function runFloor(world: RelayWorld, load: RelayLoad): Promise<LoadResult> {
  const { workers, firstChannel } = load
  const node = await openRpcSocket(byWebSocket(world.rpcUrl))
  const accounts = Array.from({ length: workers }, (_, worker) =>
    signerFromKey(keccak256(toUtf8Bytes(`bench ${firstChannel} ${worker}`))),
  )
  const senders = accounts.map(({ address }) => address)
  await fund(world, senders)
  const { keyManager } = world.fixture.profile
  let lastId = 0
  const asked = (method: string, params: readonly unknown[]) => {
    const id = ++lastId
    return { id, body: rpcBody(method, params, id) }
  }
  const prepared = accounts.map((account, worker) =>
    channelsOf(load, worker).map((channel, nonce) => {
      const { callData } = signedCall(world, channel, 0n)
      const { raw } = account.sign({
        chainId: BigInt(world.chainId),
        nonce,
        to: keyManager,
        gasLimit: GAS_LIMIT,
        data: callData,
        fees: FEES,
      })
      const call = { from: account.address, to: keyManager, data: callData }
      return [asked('eth_call', [call, 'latest']), asked('eth_sendRawTransaction', [raw])]
    }),
  )
  const result = await runUntilMined(world.rpcUrl, senders, () =>
    runLoad(load, async (worker, index) => {
      for (const { id, body } of prepared[worker]?.[index] ?? []) {
        const { error } = await node.ask(id, body)
        if (error !== undefined) throw new Error(`floor: ${JSON.stringify(error)}`)
      }
    }),
  )
  await node.close()
  return result
}

/** Both nodes know Hardhat's name for it. */
async function fund(world: RelayWorld, addresses: readonly string[]): Promise<void> {
  const node = createRpcClient(world.rpcUrl, 1)
  for (const address of addresses) await node.call('hardhat_setBalance', address, toQuantity(10n ** 18n))
  await node.close()
}
