import { JsonRpcProvider, type JsonRpcPayload, type JsonRpcResult } from 'ethers'

/**
 * ethers' provider for a node, for what reads large answers: ethers decodes the bytes of an answer one by one, which takes
 * a hundred times as long as Node does, and the receipt of a transaction with a thousand logs has a megabyte.
 */
export class NodeProvider extends JsonRpcProvider {
  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<JsonRpcResult[]> {
    const request = this._getConnection()
    request.body = JSON.stringify(payload)
    request.setHeader('content-type', 'application/json')
    const response = await request.send()
    response.assertOk()
    const answers = parseJson(Buffer.from(response.body ?? []).toString())
    // Of an answer that is no JSON, ethers says what is wrong.
    return [answers ?? response.bodyJson].flat() as JsonRpcResult[]
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
