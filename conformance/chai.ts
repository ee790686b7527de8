import type { Answer } from './lib/answer.ts'

export { relayAssertions } from './lib/assertions.ts'
export type { Answer } from './lib/answer.ts'

/**
 * Reads the answer to a request that a test has made by itself, for `expect`.
 *
 * @example
 * use(relayAssertions)
 * const answer = await readAnswer(await fetch(`${relayUrl}/execute`, { method: 'POST', headers, body }))
 * expect(answer).to.be.accepted
 */
export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text()
  const headers = Object.fromEntries(response.headers)
  const { status } = response
  return {
    status,
    headers,
    text,
    json: parseJson(text),
    failure: undefined,
    durationMs: 0,
    exchange: {
      request: { method: 'POST', url: response.url, headers: {} },
      response: { status, headers, body: text },
      durationMs: 0,
    },
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
