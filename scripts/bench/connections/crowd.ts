import { connect, type Socket } from 'node:net'

/**
 * A process that holds useless connections to a server: `crowd.ts <url> <kind>=<count>,…`. When the server closes one of them,
 * the process opens another one.
 */
const [, , url = '', wanted = ''] = process.argv
const { hostname, port } = new URL(url)

const SLOW_MS = 100
const head = (length: number) =>
  `POST /api/eth-rpc HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

/** What a connection of each kind does. */
const kinds: Readonly<Record<string, (socket: Socket) => void>> = {
  /** Sends nothing, like clients that keep connections for later. */
  idle: (socket) => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'
    socket.write(head(body.length) + body)
  },
  /** Sends half of a request, and nothing more. */
  halfOpen: (socket) => socket.write(head(1_000) + '{"jsonrpc":'),
  /** Sends its headers, then its body, byte by byte. */
  slowSender: (socket) => {
    const request = head(10_000) + ' '.repeat(10_000)
    let at = 0
    const timer = setInterval(() => socket.write(request.charAt(at++)), SLOW_MS)
    socket.on('close', () => clearInterval(timer))
  },
  /** Requests a lot, and reads no answer. */
  slowReader: (socket) => {
    socket.pause()
    socket.write(`GET /docs/openapi.json HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`.repeat(10))
  },
}

function open(kind: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      kinds[kind]?.(socket)
      resolve()
    })
    socket.on('error', () => {})
    socket.on('close', () => setTimeout(() => void open(kind), SLOW_MS))
    if (kind !== 'slowReader') socket.resume()
  })
}

for (const part of wanted.split(',')) {
  const [kind = '', count] = part.split('=')
  await Promise.all(Array.from({ length: Number(count) }, () => open(kind)))
}
console.log(`listening ${wanted}`)
