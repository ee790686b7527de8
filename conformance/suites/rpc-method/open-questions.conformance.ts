import { type Answer, errorOf, objectOf } from '../../lib/answer.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import { inventedMethod } from '../../lib/eth-rpc/methods.ts'

const request = { id: 1, jsonrpc: '2.0', method: 'eth_chainId', params: [] }
const json = { 'content-type': 'application/json' }

/** Wrong requests by their kind, in the words of the observation. */
const kinds: Readonly<Record<string, (t: CheckContext) => Promise<Answer>>> = {
  'an unknown method': (t) => t.rpc.call(inventedMethod),
  'bad parameters': (t) => t.rpc.call('eth_getBalance', ['0x12', 'latest']),
  'bad JSON': (t) => t.rpc.sendRaw('{"id":1,'),
  'an empty body': (t) => t.rpc.sendRaw('', { headers: json }),
  GET: (t) => t.rpc.sendRaw(undefined, { method: 'GET', headers: {} }),
  PUT: (t) => t.rpc.send(request, { method: 'PUT' }),
  'the content type text/plain': (t) => t.rpc.send(request, { headers: { 'content-type': 'text/plain' } }),
  'no content type': (t) => t.rpc.send(request, { headers: {} }),
}

function form(answer: Answer): string {
  if (answer.failure) return answer.failure.message
  const body = objectOf(answer)
  const error = errorOf(answer)
  const type = answer.headers['content-type']?.split(';')[0] ?? 'no content type'
  if (error !== undefined) return `${answer.status}, error ${JSON.stringify(error).slice(0, 200)}`
  if (body && 'result' in body) return `${answer.status}, served`
  return `${answer.status}, ${type}, ${JSON.stringify(answer.text.slice(0, 120))}`
}

export default [
  clause('eth-rpc.errors.shape', (check) => {
    for (const [kind, ask] of Object.entries(kinds)) {
      check(`how ${kind} is answered`, async (t) => t.observe(`${kind}: ${form(await ask(t))}`))
    }
  }),

  clause('eth-rpc.limits.rate', (check) => {
    check('which headers tell of a rate limit', async (t) => {
      const answer = await t.rpc.send(request, { takeRateLimit: true })
      const found = Object.entries(answer.headers).filter(([name]) => /rate-?limit|retry-after|quota/.test(name))
      if (answer.status === 429) t.observe('a request was refused with 429')
      t.observe(
        found.length === 0
          ? 'no header tells of a rate limit'
          : found.map(([name, value]) => `${name}: ${value}`).join(', '),
      )
    })
  }),

  clause('eth-rpc.auth', (check) => {
    check('whether a credential is asked for', async (t) => {
      const answer = await t.rpc.send(request)
      const challenge = answer.headers['www-authenticate']
      const asks = answer.status === 401 || answer.status === 403 || challenge !== undefined
      t.observe(
        asks
          ? `a credential is asked for: ${form(answer)}${challenge === undefined ? '' : `, ${challenge}`}`
          : 'no credential is asked for',
      )
    })
  }),
]
