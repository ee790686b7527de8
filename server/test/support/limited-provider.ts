import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ProviderText } from './provider-texts.ts'

/** A provider in front of a real node that gives no more logs than it says. */
export interface LimitedProvider {
  readonly url: string
  text: ProviderText
  limits: { readonly blocks?: number; readonly logs?: number }
  /** Calls of eth_getLogs since the last `forget`: how many blocks each asked for, and whether it was refused. */
  readonly queries: { readonly blocks: number; readonly refused: boolean }[]
  forget(): void
  close(): Promise<void>
}

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: [{ readonly fromBlock?: string; readonly toBlock?: string }]
}

export async function startLimitedProvider(nodeUrl: string, first: ProviderText): Promise<LimitedProvider> {
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks).toString()
      const headers = { 'content-type': 'application/json' }
      const answer = await (await fetch(nodeUrl, { method: 'POST', headers, body })).text()
      const refusal = refusalOf(JSON.parse(body) as Call, JSON.parse(answer) as { result?: unknown[] })
      response.writeHead(refusal ? (provider.text.status ?? 200) : 200, headers).end(refusal ?? answer)
    })().catch(() => response.destroy())
  })

  function refusalOf({ id, method, params }: Call, { result }: { result?: unknown[] }): string | undefined {
    if (method !== 'eth_getLogs') return undefined
    const [{ fromBlock, toBlock }] = params
    const [from, to] = [Number(fromBlock ?? 0), Number(toBlock ?? 0)]
    const { blocks: mostBlocks = Infinity, logs: mostLogs = Infinity } = provider.limits
    const [blocks, logs] = [to - from + 1, result?.length ?? 0]
    const much =
      blocks > mostBlocks
        ? { from, to, count: blocks, limit: mostBlocks }
        : logs > mostLogs
          ? { from, to, count: logs, limit: mostLogs }
          : undefined
    provider.queries.push({ blocks, refused: much !== undefined })
    if (much === undefined) return undefined
    const { error, body } = provider.text
    return body?.(much) ?? JSON.stringify({ jsonrpc: '2.0', id, result: null, error: error?.(much) })
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const provider: LimitedProvider = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    text: first,
    limits: {},
    queries: [],
    forget: () => void (provider.queries.length = 0),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return provider
}
