import { runLoad, type LoadResult } from '../support/load.ts'
import { countedBy, runUntilMined } from '../support/mined.ts'
import { createPoster, signedCall, type RelayWorld } from '../support/relay-world.ts'
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
  const send = async (worker: number, index: number) => {
    await relay.execute(prepared[worker]?.[index] ?? '')
  }
  try {
    return await runUntilMined(world.rpcUrl, () => runLoad(load, send), countedBy(world.signers))
  } finally {
    await relay.close()
  }
}
