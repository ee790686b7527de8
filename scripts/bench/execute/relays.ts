import { runLoad, type LoadResult } from '../support/load.ts'
import { minedFromNow, runUntilMined } from '../support/mined.ts'
import { createPoster, signedCall, type RelayWorld } from '../support/relay-world.ts'
import { createRpcClient } from '../support/rpc.ts'
import { channelsOf, type RelayLoad } from './relay-load.ts'

/**
 * Relaying through `POST /execute`.
 *
 * @param url of the server
 * @returns what it came to; the rate counts the time until all is mined
 */
export async function runRelays(world: RelayWorld, url: string, load: RelayLoad): Promise<LoadResult> {
  const relay = createPoster(url, load.workers)
  const prepared = Array.from({ length: load.workers }, (_, worker) =>
    channelsOf(load, worker).map((channel) => signedCall(world, channel, 0n).body),
  )
  const node = createRpcClient(world.rpcUrl, 1)
  const send = async (worker: number, index: number) => {
    const { status, json } = await relay.post('/execute', prepared[worker]?.[index] ?? '')
    if (status !== 200) throw new Error(`relay: ${status} ${JSON.stringify(json)}`)
  }
  try {
    return await runUntilMined(() => runLoad(load, send), await minedFromNow(node, world.signers))
  } finally {
    await relay.close()
    await node.close()
  }
}
