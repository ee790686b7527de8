import { once } from 'node:events'
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import { holdForThisTurn } from '../../../server/services/node/websocket-node.ts'

interface Answer {
  readonly id: number
  readonly error?: unknown
}

/** A node's WebSocket, and nothing around it; what is asked in one turn of the event loop leaves in one piece. */
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
  let carrier: Socket | undefined
  socket.on('upgrade', (response) => (carrier = response.socket))
  await once(socket, 'open')
  return {
    ask: (id, body) =>
      new Promise((resolve) => {
        waiting.set(id, resolve)
        if (carrier) holdForThisTurn(carrier)
        socket.send(body)
      }),
    close: async () => {
      socket.close()
      await once(socket, 'close')
    },
  }
}
