import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { extname } from 'node:path'
import { parseArgs } from 'node:util'
import { judgeAims } from './support/aim.ts'
import { startNode, startServerProcess, unusedPort } from '../../testbed/processes.ts'
import { provisionWorld, signedCall } from '../../testbed/relay-world.ts'
import { median } from './support/statistics.ts'
import { ordinaryRequest, worstRequests, type SmallRequest } from './stall/requests.ts'

const usage = `Usage: touchstone bench stall [--rounds 11]

How long a request of 1 kB keeps the event loop of the server to itself: the longest turn, in CPU time of the main thread, of
a relay call and of some thirty requests that are cheap to send and dear to answer where nothing bounds it. Median of the
rounds. Aim: each of the 20 worst within 3 times that of the relay call.
`

const MOST_TIMES = 3
const WORST = 20
/** What goes on after the answer is part of it. */
const AFTER_MS = 10

interface Stall {
  readonly name: string
  readonly sent: number
  readonly received: number
  readonly ms: number
}

/**
 * The benchmark `stall`.
 *
 * @returns the exit code: 0 every aim is met, 1 one is missed
 */
export async function run(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: { rounds: { type: 'string', default: '11' }, help: { type: 'boolean' } },
  })
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  const rounds = Number(values.rounds)
  const node = await startNode('anvil')
  try {
    const world = await provisionWorld(node.url)
    const port = await unusedPort()
    const probe = new URL(`stall/probe${extname(import.meta.filename)}`, import.meta.url)
    const server = await startServerProcess({
      rpcUrl: node.url,
      signerKeys: world.signerKeys,
      // Counted, and never too many.
      config: { limits: { requestsPerMinute: 1_000_000_000, relaysPerMinute: 1_000_000_000 } },
      environment: { NODE_OPTIONS: `--import ${probe.href}`, STALL_PORT: String(port) },
    })
    try {
      const longest = async () => (await (await fetch(`http://127.0.0.1:${port}/`)).json()) as number
      const measure = async (makeRequest: (round: number) => SmallRequest): Promise<Stall> => {
        const turns: number[] = []
        let [name, sent, received] = ['', 0, 0]
        // The first requests are slow, because V8 compiles then.
        for (let round = -3; round < rounds; round++) {
          const request = makeRequest(round)
          await longest()
          await sleep(AFTER_MS)
          received = await answered(server.url, request.bytes)
          await sleep(AFTER_MS)
          const ms = await longest()
          if (round >= 0) turns.push(ms)
          ;[name, sent] = [request.name, request.bytes.length]
        }
        return { name, sent, received, ms: median(turns) }
      }
      let channel = 5_000n
      const relayCall = () => ordinaryRequest(signedCall(world, channel++, 0n).body)
      for (let warm = 0; warm < 100; warm++) await answered(server.url, relayCall().bytes)
      const ordinary = await measure(relayCall)
      const stalls: Stall[] = []
      for (const request of worstRequests()) stalls.push(await measure(() => request))
      const worst = stalls.sort((one, other) => other.ms - one.ms).slice(0, WORST)
      console.log(`longest turn of the event loop, median of ${rounds} rounds\n`)
      console.log('| request | bytes sent | bytes answered | ms | times the relay call |')
      console.log('|---|---|---|---|---|')
      for (const { name, sent, received, ms } of [ordinary, ...worst]) {
        console.log(`| ${[name, sent, received, ms.toFixed(2), (ms / ordinary.ms).toFixed(2)].join(' | ')} |`)
      }
      const times = Math.max(...worst.map(({ ms }) => ms)) / ordinary.ms
      return judgeAims([{ name: 'the worst request of 1 kB, times a relay call', value: times, atMost: MOST_TIMES }])
    } finally {
      await server.close()
    }
  } finally {
    await node.close()
  }
}

/** Sends the bytes as they are, and reads until the server closes. @returns bytes received */
async function answered(url: string, bytes: Buffer): Promise<number> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = 0
  socket.on('data', (chunk: Buffer) => (received += chunk.length))
  socket.write(bytes)
  await once(socket, 'close')
  return received
}
