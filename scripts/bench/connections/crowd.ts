import { connect, type Socket } from 'node:net'

/**
 * A process of its own that holds connections to a server and is of no use to it: `crowd.ts <url> <kind>=<count>,…`.
 * Those that the server cuts off come back.
 */
const [, , url = '', wanted = ''] = process.argv
const { hostname, port } = new URL(url)

const SLOW_MS = 100
const head = (length: number) =>
  `POST /api/eth-rpc HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

/** What one of them does once it is connected. */
const kinds: Readonly<Record<string, (socket: Socket) => void>> = {
  /** Has nothing to say, as clients that keep connections for later. */
  idle: (socket) => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'
    socket.write(head(body.length) + body)
  },
  /** Has sent half of a request, and is gone without a word. */
  halfOpen: (socket) => socket.write(head(1_000) + '{"jsonrpc":'),
  /** Sends its headers, then its body, byte by byte. */
  slowSender: (socket) => {
    const request = head(10_000) + ' '.repeat(10_000)
    let at = 0
    const timer = setInterval(() => socket.write(request.charAt(at++)), SLOW_MS)
    socket.on('close', () => clearInterval(timer))
  },
  /** Asks for much, and reads nothing. */
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
