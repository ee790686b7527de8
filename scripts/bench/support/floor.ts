// The floor of a benchmark in a process of its own: a bare Koa route, which parses JSON. The argument names its answer.
import Koa from 'koa'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Answer = (body: string) => object

const answers: Readonly<Record<string, () => Promise<Answer>>> = {
  /** A constant. */
  'eth-rpc': async () => (body) => {
    const { id } = JSON.parse(body) as { id: unknown }
    return { jsonrpc: '2.0', id, result: '0x7a69' }
  },
  /** The signer, which ethers recovers. The other floor does not load ethers. */
  quota: async () => {
    const { getBytes, solidityPackedKeccak256, verifyMessage } = await import('ethers')
    return (body) => {
      const { address, timestamp, signature } = JSON.parse(body) as {
        address: string
        timestamp: number
        signature: string
      }
      const message = solidityPackedKeccak256(['address', 'uint256'], [address, timestamp])
      return { signer: verifyMessage(getBytes(message), signature) }
    }
  },
}

const [, , name = ''] = process.argv
const answer = await answers[name]?.()
if (!answer) throw new Error(`there is no floor '${name}'`)

const app = new Koa()
app.use(async (ctx) => {
  const chunks: Buffer[] = []
  for await (const chunk of ctx.req) chunks.push(chunk as Buffer)
  ctx.body = answer(Buffer.concat(chunks).toString())
})
const callback = app.callback()
const server = createServer((request, response) => void callback(request, response)).listen(0, '127.0.0.1')
await once(server, 'listening')
process.once('SIGTERM', () => process.exit())
console.log(`listening http://127.0.0.1:${(server.address() as AddressInfo).port}`)
