import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { extname } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { numberOf } from '../parse-command.ts'
import { judgeAims, median } from './support/figures.ts'
import { startNode, startServerProcess, unusedPort } from '../../testbed/processes.ts'
import { provisionWorld, signedCall } from '../../testbed/relay-world.ts'

const usage = () => `Usage: touchstone bench stall [--rounds 11]

How long a request of 1 kB keeps the event loop of the server to itself: the longest turn, in CPU time of the main thread, of
a relay call and of some thirty requests that are cheap to send and dear to answer where nothing bounds it. Median of the
rounds. Aim: each of the 20 worst within 3 times that of the relay call.

The same for ${CROWD} requests that are there at once, large ones among them. Aim: each within 3 times that of relay calls.
`

/** Requests at once: fewer than the connections that one address may have. */
const CROWD = 300
/** The loop has its turns while a crowd is served, so that a few rounds agree. */
const CROWD_ROUNDS = 3

const MOST_TIMES = 3
const WORST = 20
/** Time after an answer in which the server may still work on the request. */
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
    process.stdout.write(usage())
    return 0
  }
  const rounds = numberOf(values, 'rounds')
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
      const measure = async (rounds: number, makeRequests: (round: number) => readonly Request[]): Promise<Stall> => {
        const turns: number[] = []
        let [name, sent, received] = ['', 0, 0]
        // The first requests are slow, because V8 compiles then.
        for (let round = -3; round < rounds; round++) {
          const requests = makeRequests(round)
          const open = await Promise.all(
            requests.map(async ({ bytes }) => ({ bytes, socket: await opened(server.url) })),
          )
          await longest()
          await sleep(AFTER_MS)
          ;[received = 0] = await Promise.all(open.map(({ bytes, socket }) => answered(socket, bytes)))
          await sleep(AFTER_MS)
          const ms = await longest()
          if (round >= 0) turns.push(ms)
          ;[name = '', sent = 0] = [requests[0]?.name, requests[0]?.bytes.length]
        }
        return { name, sent, received, ms: median(turns) }
      }
      let channel = 5_000n
      const relayCall = () => ordinaryRequest(signedCall(world, channel++, 0n).body)
      for (let warm = 0; warm < 100; warm++) await answered(await opened(server.url), relayCall().bytes)

      const ordinary = await measure(rounds, () => [relayCall()])
      const stalls: Stall[] = []
      for (const request of worstRequests()) stalls.push(await measure(rounds, () => [request]))
      const worst = stalls.sort((one, other) => other.ms - one.ms).slice(0, WORST)
      console.log(`longest turn of the event loop, median of ${rounds} rounds\n`)
      printTable(ordinary, worst)

      const crowd = (makeRequest: () => Request) => () => Array.from({ length: CROWD }, makeRequest)
      const ordinaryCrowd = await measure(CROWD_ROUNDS, crowd(relayCall))
      const crowds: Stall[] = []
      for (const request of crowdedRequests())
        crowds.push(
          await measure(
            CROWD_ROUNDS,
            crowd(() => request),
          ),
        )
      console.log(`\n${CROWD} at once, median of ${CROWD_ROUNDS} rounds\n`)
      printTable(ordinaryCrowd, crowds)

      const times = (floor: Stall, those: readonly Stall[]) => Math.max(...those.map(({ ms }) => ms)) / floor.ms
      return judgeAims([
        { name: 'the worst request of 1 kB, times a relay call', value: times(ordinary, worst), atMost: MOST_TIMES },
        { name: `the worst ${CROWD}, times relay calls`, value: times(ordinaryCrowd, crowds), atMost: MOST_TIMES },
      ])
    } finally {
      await server.close()
    }
  } finally {
    await node.close()
  }
}

function printTable(floor: Stall, stalls: readonly Stall[]): void {
  console.log('| request | bytes sent | bytes answered | ms | times the relay call |')
  console.log('|---|---|---|---|---|')
  for (const { name, sent, received, ms } of [floor, ...stalls]) {
    console.log(`| ${[name, sent, received, ms.toFixed(2), (ms / floor.ms).toFixed(2)].join(' | ')} |`)
  }
}

async function opened(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return socket
}

/** Sends the bytes as they are, and reads until the server closes. @returns bytes received */
async function answered(socket: Socket, bytes: Buffer): Promise<number> {
  let received = 0
  socket.on('data', (chunk: Buffer) => (received += chunk.length))
  socket.write(bytes)
  await once(socket, 'close')
  return received
}

/** A request as it goes over the connection. */
interface Request {
  readonly name: string
  readonly bytes: Buffer
}

/** The most bytes of an unpacked body. The server's limits refuse larger ones. */
const UNPACKED_BYTES = 850_000
const MOST_BYTES = 1_200
const PACKED_BYTES = 1_024

/** Requests of 1 kB each, which are cheap to send and dear to answer if no limit bounds them. */
function worstRequests(): readonly Request[] {
  const digits = (count = UNPACKED_BYTES - 300) => '7'.repeat(count)
  const address = `0x${'11'.repeat(20)}`
  const signature = `0x${'11'.repeat(64)}1b`
  const call = (members: string) => `{"jsonrpc":"2.0","id":1,"method":"eth_getBalance",${members}}`
  const execute = (nonce: string, more = '') =>
    `{"address":"${address}","transaction":{"abi":"0x7f23690c","signature":"${signature}","nonce":${nonce}${more}}}`
  const logs = (filter: string) => `{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[${filter}]}`
  const topic = `"0x${'22'.repeat(32)}"`

  return [
    packed('digits as an id', '/api/eth-rpc', `{"jsonrpc":"2.0","method":"eth_chainId","id":${digits()}}`),
    packed('digits as a parameter', '/api/eth-rpc', call(`"params":["${address}",${digits()}]`)),
    packed('digits as a parameter, in a string', '/api/eth-rpc', call(`"params":["${address}","0x${digits()}"]`)),
    packed('digits as a nonce', '/execute', execute(digits())),
    packed('digits as a nonce, in a string', '/execute', execute(`"${digits()}"`)),
    packed('hex digits as a nonce', '/execute', execute(`"0x${digits()}"`)),
    packed(
      'digits as a timestamp',
      '/quota',
      `{"address":"${address}","signature":"${signature}","timestamp":${digits()}}`,
    ),
    packed('digits in 26 kB', '/execute', execute(digits(26_000))),
    packed('lists in lists', '/api/eth-rpc', '['.repeat(UNPACKED_BYTES)),
    packed('a batch of nothing', '/api/eth-rpc', `[${'[],'.repeat(10_000)}0]`),
    packed('a batch of 1,000 times nothing', '/api/eth-rpc', `[${'0,'.repeat(999)}0]`),
    packed('a batch of 1,000 requests without a method', '/api/eth-rpc', `[${'{"id":1},'.repeat(999)}{}]`),
    packed('a batch of 500 calls', '/api/eth-rpc', `[${`${chainIdCall},`.repeat(499)}${chainIdCall}]`),
    packed(
      'a batch of ids of 1,000 characters',
      '/api/eth-rpc',
      `[${`{"id":"${'\\u0001'.repeat(160)}"},`.repeat(30)}0]`,
    ),
    packed('fractions', '/api/eth-rpc', `[${'1.5,'.repeat(7_500)}0]`),
    packed('fractions beside a call', '/execute', execute('1', `},"more":[${'1e1,'.repeat(7_500)}0],"x":{`)),
    packed(
      'integers beside a call',
      '/execute',
      execute('1', `},"more":[${'9999999999999999,'.repeat(1_700)}0],"x":{`),
    ),
    packed('members', '/quota', `{${Array.from({ length: 330 }, (_, index) => `"${index}":{}`).join()}}`),
    packed('topics', '/api/eth-rpc', logs(`{"topics":[[${`${topic},`.repeat(400)}${topic}]]}`)),
    packed('a wrong topic among topics', '/api/eth-rpc', logs(`{"topics":[[${`${topic},`.repeat(400)}"x"]]}`)),
    packed('white space', '/api/eth-rpc', `${' '.repeat(30_000)}{}`),
    packed('escapes', '/api/eth-rpc', `["${'\\u0041'.repeat(5_000)}",1.5]`),
    get('all logs', '/api/eth-rpc', logs('{"fromBlock":"earliest"}')),
    get('the interface as OpenAPI', '/docs/openapi.json'),
    get('the interface as OpenRPC', '/docs/openrpc.json'),
    get('the status page', '/'),
    get('metrics', '/metrics'),
    get('a probe', '/readyz'),
    get('a path of slashes', '/'.repeat(900)),
    get('a path of many parts', '/a'.repeat(450)),
    get('an unknown transaction', `/transactions/0x${'33'.repeat(32)}`),
    {
      name: 'headers',
      bytes: Buffer.from(
        head(
          'GET',
          '/nowhere',
          Array.from({ length: 120 }, (_, index) => `a${index}: 1`),
        ),
      ),
    },
  ].filter(isSmall)
}

/** What takes long for each of many that come together, if all are served in one turn. */
function crowdedRequests(): readonly Request[] {
  const logs = '{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{"fromBlock":"earliest"}]}'
  const signature = `0x${'11'.repeat(64)}1b`
  const large = (abi: string) =>
    `{"address":"0x${'11'.repeat(20)}","transaction":{"abi":"${abi}","signature":"${signature}","nonce":1}}`
  return [
    get('all logs', '/api/eth-rpc', logs),
    get('all logs, five times', '/api/eth-rpc', `[${Array.from({ length: 5 }, () => logs).join()}]`),
    get('a relay call of 500 kB', '/execute', large(`0x${'22'.repeat(250_000)}`)),
    get('500 kB that are no JSON', '/api/eth-rpc', `["${'x'.repeat(500_000)}`),
    get('500 kB of fractions', '/api/eth-rpc', `[${'1.5e3,'.repeat(83_000)}0]`),
    get('the interface as OpenAPI', '/docs/openapi.json'),
    get('the page of the interface', '/docs'),
    get('metrics', '/metrics'),
  ]
}

const chainIdCall = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'

/** A relay call of 1 kB as a client sends it. */
function ordinaryRequest(body: string): Request {
  return get('a relay call', '/execute', body)
}

function head(verb: string, path: string, headers: readonly string[] = []): string {
  return `${[`${verb} ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers].join('\r\n')}\r\n\r\n`
}

/** A request by POST if there is a body, otherwise by GET. */
function get(name: string, path: string, body?: string): Request {
  if (body === undefined) return { name, bytes: Buffer.from(head('GET', path)) }
  const headers = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]
  return { name, bytes: Buffer.from(head('POST', path, headers) + body) }
}

function packed(name: string, path: string, body: string): Request {
  const gzip = padded(gzipSync(body, { level: 9 }))
  const headers = ['Content-Type: application/json', 'Content-Encoding: gzip', `Content-Length: ${gzip.length}`]
  return { name, bytes: Buffer.concat([Buffer.from(head('POST', path, headers)), gzip]) }
}

/** Fills the gzip up to 1 kB by a file name in its header (RFC 1952, 2.3). */
function padded(gzip: Buffer): Buffer {
  const [flags, headBytes, fileName] = [3, 10, 0x08]
  const name = Buffer.alloc(Math.max(1, PACKED_BYTES - gzip.length), 'x')
  name[name.length - 1] = 0
  const head = Buffer.from(gzip.subarray(0, headBytes))
  head[flags] = fileName
  return Buffer.concat([head, name, gzip.subarray(headBytes)])
}

function isSmall({ name, bytes }: Request): boolean {
  if (bytes.length <= MOST_BYTES) return true
  throw new Error(`${name} has ${bytes.length} bytes`)
}
