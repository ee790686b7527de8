import { expect } from 'chai'

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/**
 * Posts the same body as a program and as a page elsewhere: the fast lane answers the first, the app the second. Expects
 * the same answers, but for the headers that pages need and what is left of a limit.
 */
export async function postBothWays(url: string, body: unknown): Promise<Answered> {
  const post = async (headers: Record<string, string>): Promise<Answered> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': 'same', ...headers },
      body: JSON.stringify(body),
    })
    const names = [...response.headers.keys()].filter((name) => name !== 'vary' && !name.startsWith('access-control-'))
    const changes = /^(?:date|ratelimit-remaining|ratelimit-reset)$/
    const told = names.map((name) => [name, changes.test(name) ? '' : (response.headers.get(name) ?? '')] as const)
    return { status: response.status, headers: Object.fromEntries(told), text: await response.text() }
  }
  const plain = await post({})
  expect(await post({ origin: 'https://elsewhere.example' })).to.deep.equal(plain)
  return plain
}
