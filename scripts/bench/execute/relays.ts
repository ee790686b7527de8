import { runLoad, type LoadResult } from '../support/load.ts'
import { countedBy, nothingLeftOf, runUntilMined } from '../support/mined.ts'
import { createPoster, signedCall, type RelayWorld } from '../../../testbed/relay-world.ts'
import type { LoadNonces, RelayLoad } from './relay-load.ts'

/**
 * Relaying through `POST /execute`.
 *
 * @param url of the server
 * @param isBundling whether calls share transactions, so that these are fewer
 * @returns what it came to; the rate counts the time until all is mined
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
