import { once } from 'node:events'
import { WebSocket } from 'ws'

interface Answer {
  readonly id: number
  readonly error?: unknown
}

/** A node's WebSocket, and nothing around it. */
export interface RpcSocket {
  /** @param body a call with this id, which no other call has */
  ask(id: number, body: string): Promise<Answer>
  close(): Promise<void>
}

export async function openRpcSocket(url: string): Promise<RpcSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  const waiting = new Map<number, (answer: Answer) => void>()
  socket.on('message', (data: Buffer) => {
    const answer = JSON.parse(data.toString()) as Answer
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  await once(socket, 'open')
  return {
    ask: (id, body) =>
      new Promise((resolve) => {
        waiting.set(id, resolve)
        socket.send(body)
      }),
    close: async () => {
      socket.close()
      await once(socket, 'close')
    },
  }
}
