import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/** A TCP port that nobody listens at, for programs that cannot choose one themselves. */
export async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
