import type { Aim } from '../support/aim.ts'
import { runLoad } from '../support/load.ts'
import { countedBy, runUntilMined } from '../support/mined.ts'
import { startNode, startServerProcess, type NodeKind } from '../../../testbed/processes.ts'
import { createPoster, provisionWorld, signedCall } from '../../../testbed/relay-world.ts'

const CHANNELS = 100
const CALLS_EACH = 10

/**
 * On a chain with a block per second: 100 channels at once, each with 10 calls one after the other, none of which waits
 * for a block.
 */
export async function measureBlocks(kind: NodeKind): Promise<Aim[]> {
  const node = await startNode(kind, { blockTimeSeconds: 1 })
  try {
    const world = await provisionWorld(node.url)
    const server = await startServerProcess({ rpcUrl: node.url, signerKeys: world.signerKeys })
    try {
      const bodies = Array.from({ length: CHANNELS }, (_, channel) =>
        Array.from({ length: CALLS_EACH }, (_, id) => signedCall(world, BigInt(1_000 + channel), BigInt(id)).body),
      )
      const hashes: string[] = []
      const relay = createPoster(server.url, CHANNELS)
      const send = async (channel: number, id: number) => {
        const { transactionHash } = await relay.execute(bodies[channel]?.[id] ?? '')
        hashes.push(String(transactionHash))
      }
      const load = { workers: CHANNELS, tasks: CHANNELS * CALLS_EACH }
      const result = await runUntilMined(node.url, () => runLoad(load, send), countedBy(world.signers))
      await relay.close()
      console.log(
        `\n${kind}, a block per second: ${result.done} of ${CHANNELS * CALLS_EACH} calls on ${CHANNELS} channels answered ` +
          `(p50 ${result.p50Ms.toFixed(0)} ms, p99 ${result.p99Ms.toFixed(0)} ms) and mined in ${result.seconds.toFixed(1)} s`,
      )
      for (const [reason, count] of Object.entries(result.failures).slice(0, 3)) console.log(`  ${count} x ${reason}`)
      return [
        { name: `${kind}, a block per second: calls refused`, value: result.failed, atMost: 0 },
        { name: `${kind}, a block per second: different hashes`, value: new Set(hashes).size, atLeast: hashes.length },
      ]
    } finally {
      await server.close()
    }
  } finally {
    await node.close()
  }
}
