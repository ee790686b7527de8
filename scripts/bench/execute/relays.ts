import { byWebSocket } from '../../../contracts/by-websocket.ts'
import { waitUntilSettled } from '../support/invariants.ts'
import { runLoad, type LoadResult } from '../support/load.ts'
import { runUntilMined } from '../support/mined.ts'
import { startNode, startServerProcess, type NodeKind } from '../support/processes.ts'
import { createPoster, provisionWorld, signedCall, type RelayWorld } from '../support/relay-world.ts'
import { channelsOf, type Contestant, type Load } from './contestant.ts'

const SETTLED_WITHIN_MS = 60_000

/**
 * Relaying through `POST /execute`.
 *
 * @param databaseUrl of a PostgreSQL database; absent: the embedded one
 */
export async function openRelays(kind: NodeKind, databaseUrl: string | undefined): Promise<Contestant> {
  const node = await startNode(kind)
  const world = await provisionWorld(node.url)
  const server = await startServerProcess({
    rpcUrl: byWebSocket(world.rpcUrl),
    signerKeys: world.signerKeys,
    ...(databaseUrl !== undefined && { databaseUrl }),
  })
  return {
    run: (load) => runRelays(world, server.url, load),
    rest: () => waitUntilSettled(server.url, SETTLED_WITHIN_MS),
    close: async () => {
      await server.close()
      await node.close()
    },
  }
}

async function runRelays(world: RelayWorld, url: string, load: Load): Promise<LoadResult> {
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
