// The floor of `bench quota` in a process of its own: a Koa route that parses JSON and recovers the signer with ethers.
import { getBytes, solidityPackedKeccak256, verifyMessage } from 'ethers'
import Koa from 'koa'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const app = new Koa()
app.use(async (ctx) => {
  const chunks: Buffer[] = []
  for await (const chunk of ctx.req) chunks.push(chunk as Buffer)
  const { address, timestamp, signature } = JSON.parse(Buffer.concat(chunks).toString()) as {
    address: string
    timestamp: number
    signature: string
  }
  const message = solidityPackedKeccak256(['address', 'uint256'], [address, timestamp])
  ctx.body = { signer: verifyMessage(getBytes(message), signature) }
})
const callback = app.callback()
const server = createServer((request, response) => void callback(request, response)).listen(0, '127.0.0.1')
await once(server, 'listening')
process.once('SIGTERM', () => process.exit())
console.log(`listening http://127.0.0.1:${(server.address() as AddressInfo).port}`)
