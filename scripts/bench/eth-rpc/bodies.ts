import type { Started } from '../../../testbed/processes.ts'
import { createRpcClient } from '../../../testbed/relay-world.ts'
import { residentMib } from '../support/statistics.ts'
import { createRandom, generateBodies } from '../../../testbed/generated-bodies.ts'
import type { Aim } from '../support/aim.ts'

/** The most that the process may grow between the first quarter and the end, in MiB. */
const GROWTH = 1.3

/** Sends generated bodies; every answer must be JSON without a status of 500 or more. */
export async function measureBodies(server: Started, count: number, seed: number): Promise<Aim[]> {
  const client = createRpcClient(`${server.url}/api/eth-rpc`, 8)
  const bodies = generateBodies(count, createRandom(seed))
  const statuses: Record<number, number> = {}
  const memory: number[] = []
  let sent = 0
  let faults = 0
  const begun = performance.now()
  const worker = async () => {
    for (const body of bodies) {
      const { status, text } = await client.post(body)
      statuses[status] = (statuses[status] ?? 0) + 1
      if (status >= 500 || !isJson(text)) {
        faults++
        console.log(`${status} for ${body.toString('latin1').slice(0, 500)}: ${text.slice(0, 200)}`)
      }
      if (++sent % Math.ceil(count / 4) === 0) memory.push(await residentMib(server.pid))
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  const seconds = (performance.now() - begun) / 1000
  const isAlive = await client.call('eth_chainId').then(
    () => true,
    () => false,
  )
  await client.close()
  console.log(`\n${sent} generated bodies, seed ${seed}, in ${seconds.toFixed(1)} s`)
  console.log(
    `statuses ${JSON.stringify(statuses)}, MiB at each quarter ${memory.map((mib) => mib.toFixed(0)).join(', ')}`,
  )
  return [
    { name: 'bodies: 5xx or no JSON', value: faults, atMost: 0 },
    { name: 'bodies: the server still answers', value: isAlive ? 1 : 0, atLeast: 1 },
    {
      name: 'bodies: memory at the end over that of the first quarter',
      value: (memory.at(-1) ?? 0) / (memory[0] ?? 1),
      atMost: GROWTH,
    },
  ]
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
