// The floor in a process of its own: a Koa route that parses JSON and answers a constant.
import Koa from 'koa'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const app = new Koa()
app.use(async (ctx) => {
  const chunks: Buffer[] = []
  for await (const chunk of ctx.req) chunks.push(chunk as Buffer)
  const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { id: unknown }
  ctx.body = { jsonrpc: '2.0', id, result: '0x7a69' }
})
const callback = app.callback()
const server = createServer((request, response) => void callback(request, response)).listen(0, '127.0.0.1')
await once(server, 'listening')
process.once('SIGTERM', () => process.exit())
console.log(`listening http://127.0.0.1:${(server.address() as AddressInfo).port}`)
