import { runLoad, type LoadResult } from '../support/load.ts'
import { runUntilMined } from '../support/mined.ts'
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
  const result = await runUntilMined(world.rpcUrl, world.signers, () =>
    runLoad(load, async (worker, index) => {
      const { status, json } = await relay.post('/execute', prepared[worker]?.[index] ?? '')
      if (status !== 200) throw new Error(`relay: ${status} ${JSON.stringify(json)}`)
    }),
  )
  await relay.close()
  return result
}
