import type { Scaffold } from './scaffold.ts'

/** Parameters of calls that any node serves, for methods of the standard that are often wanted. */
const knownParams: Readonly<Record<string, readonly unknown[]>> = {
  eth_feeHistory: ['0x1', 'latest', []],
  eth_getCode: ['0x5FbDB2315678afecb367f032d93F642f64180aa3', 'latest'],
  eth_getStorageAt: ['0x5FbDB2315678afecb367f032d93F642f64180aa3', '0x0', 'latest'],
}

/**
 * A method that the node answers. The ids of clauses come from the documents, and these do not list the method: its one
 * clause is recommended and holds for services that have it; where it is refused, the check judges nothing.
 */
export function rpcMethodScaffold(method: string, params: readonly unknown[] = knownParams[method] ?? []): Scaffold {
  const id = `eth-rpc.${method}.result-schema`
  const paths = {
    schema: `specs/schemas/rpc-method/${method}.json`,
    plugin: `server/plugins/rpc-method/${method}.ts`,
    suite: `conformance/suites/rpc-method/${method}.conformance.ts`,
    mutants: `conformance/mutants/rpc-method/${method}.mutants.ts`,
    lawful: `conformance/lawful/rpc-method/${method}.lawful.ts`,
  }
  return {
    files: new Map([
      [paths.schema, schemaText(method, params)],
      [paths.plugin, methodText(method, id)],
      [`server/test/plugins/rpc-method/${method}.test.ts`, methodTestText(method, params)],
      [paths.suite, suiteText(method, id, params)],
      [paths.mutants, mutantText(method, id)],
      [paths.lawful, lawfulText(method, id)],
    ]),
    edits: new Map([['specs/clauses/eth-rpc.json', (text) => withClause(text, id, method)]]),
    regenerate: true,
    next: [
      `${paths.schema}: name and describe the parameters and the result`,
      `${paths.plugin}: it asks the node and hands its answer on`,
      `${paths.suite}: compare with the chain, and refuse bad parameters`,
      `npm run prove -- --only ${id}   shows that the check bites, and whom it spares`,
      'npm test',
    ],
  }
}

function schemaText(method: string, params: readonly unknown[]): string {
  return JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `https://touchstone.invalid/schemas/rpc-method/${method}.json`,
    title: method,
    description: `What a node answers to ${method}.`,
    type: 'object',
    properties: {
      params: paramsSchema(params),
      result: { description: 'Anything but null.', not: { type: 'null' }, examples: ['0x1'] },
    },
  })
}

const methodText = (method: string, id: string) => `import { defineRpcMethod } from '../../core/define.ts'

/** Asks the node. Parameters and result are valid against the schema of the same name. */
export default defineRpcMethod({
  method: '${method}',
  clauses: ['${id}'],
  needs: ['upstream'],
  handle: (params, { upstream }) => upstream.request('${method}', params),
})
`

const methodTestText = (method: string, params: readonly unknown[]) => `import { expect } from 'chai'
import { startTestbed, type Testbed } from '../../../../testbed/testbed.ts'

describe('rpc method ${method}', () => {
  let testbed: Testbed

  before(async () => {
    testbed = await startTestbed()
  })
  after(() => testbed.close())

  const call = async (url: string, params: readonly unknown[]) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: '${method}', params }),
    })
    return (await response.json()) as { result?: unknown; error?: { code: number } }
  }

  it('answers what the node answers', async () => {
    const params = ${JSON.stringify(params)}
    const { result } = await call(\`\${testbed.ethRpcBaseUrl}/api/eth-rpc\`, params)
    expect(result).to.exist
    expect(result).to.deep.equal((await call(testbed.rpcUrl, params)).result)
  })

  it('refuses a parameter too many', async () => {
    const params = ${JSON.stringify([...params, '0x1'])}
    const { error } = await call(\`\${testbed.ethRpcBaseUrl}/api/eth-rpc\`, params)
    expect(error?.code).to.equal(-32602)
  })
})
`

const suiteText = (
  method: string,
  id: string,
  params: readonly unknown[],
) => `import { isServed, memberOf } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { expectResultSchema } from '../../lib/eth-rpc/method-clauses.ts'
import { Untestable } from '../../lib/outcome.ts'

export default [
  clause('${id}', (check) => {
    check('has the form of its schema', async (t) => {
      const answer = await t.rpc.call('${method}', ${JSON.stringify(params)})
      // The document does not list the method: to refuse it breaks nothing.
      if (!isServed(answer)) throw new Untestable('the target does not serve ${method}')
      expectResultSchema(t, '${method}', memberOf(answer, 'result'))
    })
  }),
]
`

const mutantText = (method: string, id: string) => `import { defineMutant } from '../../altered/define.ts'
import { alterResult } from '../../altered/lib/rpc.ts'

export default [
  defineMutant({
    clause: '${id}',
    fault: 'null instead of the result of ${method}',
    rpc: alterResult('${method}', () => null),
  }),
]
`

const lawfulText = (method: string, id: string) => `import { defineLawful } from '../../altered/define.ts'
import { refuse } from '../../altered/lib/rpc.ts'

export default [
  defineLawful({
    id: 'does-not-know-${method.replaceAll(/[_A-Z]/g, (letter) => `-${letter.replace('_', '').toLowerCase()}`).replaceAll(/-+/g, '-')}',
    clauses: ['${id}'],
    allowedBy: 'eth-rpc 1: a method that the document does not list need not be served',
    rpc: refuse(-32601, (body) => body['method'] === '${method}'),
  }),
]
`

function withClause(text: string, id: string, method: string): string {
  const row = {
    level: 'recommended',
    section: '1, 4',
    text: `A service that serves ${method}, which the document does not list, answers with a result of its schema.`,
    needs: [],
  }
  return JSON.stringify({ ...(JSON.parse(text) as object), [id]: row }, null, 2)
}

/** Forms of `specs/schemas/common.json`, by what a value looks like; the first that fits is taken. */
const commonForms: readonly [form: string, pattern: RegExp][] = [
  ['address', /^0x[0-9a-fA-F]{40}$/],
  ['hash32', /^0x[0-9a-fA-F]{64}$/],
  ['uint256', /^0x(?:0|[1-9a-f][0-9a-f]*)$/],
  ['blockNumberOrTag', /^(?:latest|earliest|pending)$/],
]

/** The schema of positional parameters, guessed from those of one call; what each means is left to the author. */
function paramsSchema(example: readonly unknown[]): object {
  if (example.length === 0) return { type: 'array', description: 'None.', maxItems: 0, examples: [[]] }
  return {
    type: 'array',
    prefixItems: example.map((value, index) => ({ title: `param${index + 1}`, ...formOf(value) })),
    minItems: example.length,
    items: false,
    examples: [example],
  }
}

function formOf(value: unknown): object {
  if (typeof value === 'string') {
    const common = commonForms.find(([, pattern]) => pattern.test(value))
    return common ? { $ref: `../common.json#/$defs/${common[0]}` } : { type: 'string' }
  }
  if (Array.isArray(value)) return { type: 'array' }
  return { type: value === null ? 'null' : typeof value }
}

/** A relay for another version of the key manager. The documents' clauses on POST /execute judge it; it needs no more. */
export function relayScaffold(id: string): Scaffold {
  const plugin = `server/plugins/relay/${id}.ts`
  return {
    files: new Map([[plugin, relayText(id)]]),
    next: [
      `${plugin}: the ERC-165 ids of the key managers it speaks to; until then it serves none`,
      `${plugin}: what is signed (form) and what is sent (encode), if it is not as in LSP25`,
      `server/test/plugins/relay/${id}.test.ts: on such a key manager, as lsp6.test.ts does`,
      'npm run check -- <url> --fixture <file>   judges it by the clauses relay.execute.*, on a profile with that key manager',
      'npm test',
    ],
  }
}

const relayText = (id: string) => `import { defineRelay } from '../../core/define.ts'
import { verifyRelayCall } from '../../services/relayer/verify.ts'
import { lsp25Form } from '../../ethereum/signature.ts'
import { keyManagerCalls } from '../../ethereum/contracts.ts'

/** By ERC-165 no contract supports it: put the key managers' ids here. */
const NO_INTERFACE = '0xffffffff'

/** Relays for one version of the key manager. */
export default defineRelay({
  id: '${id}',
  path: '/execute',
  clauses: [],
  needs: ['chain', 'relayer'],
  keyManagerInterfaceIds: [NO_INTERFACE],
  verify: async ({ transaction }, profile, { chain }) => {
    const { nonce, validityTimestamps, abi: payload } = transaction
    return verifyRelayCall(transaction, profile, {
      chainId: BigInt(await chain.id()),
      form: lsp25Form,
      encode: (signature) => keyManagerCalls.executeRelayCall(signature, nonce, validityTimestamps, payload),
    })
  },
  submit: (call, { relayer }) => relayer.submit(call),
})
`

/** A quota model that counts calls. The documents' clauses on POST /quota judge it; it needs none of its own. */
export function quotaScaffold(id: string): Scaffold {
  const plugin = `server/plugins/quota/${id}.ts`
  return {
    files: new Map([
      [plugin, quotaText(id)],
      [`server/test/plugins/quota/${id}.test.ts`, quotaTestText(id)],
    ]),
    next: [
      `${plugin}: what a new account holds, what a call costs, what POST /quota shows; unit may be gas or lyx`,
      `a plan uses it, in the configuration: quota.plans.<name>.model: ${id}`,
      'npm run check   judges it by the clauses relay.quota.*, once the plan default names it',
      'npm test',
    ],
  }
}

const quotaText = (id: string) => `import { defineQuota } from '../../core/define.ts'

interface Options {
  readonly calls: number
}

const SECONDS_PER_DAY = 86_400

/** So many calls a day, whatever they cost. */
export default defineQuota<never, Options>({
  id: '${id}',
  unit: 'transactionCount',
  clauses: ['relay.quota.unit'],
  needs: [],
  options: {
    type: 'object',
    additionalProperties: false,
    properties: { calls: { description: 'Calls that a profile has in a day.', type: 'integer', minimum: 0, default: 100 } },
  },
  open: (nowSeconds, _services, { calls }) => ({
    allowance: BigInt(calls),
    resetAtSeconds: BigInt((Math.floor(nowSeconds / SECONDS_PER_DAY) + 1) * SECONDS_PER_DAY),
  }),
  remaining: ({ allowance, used, resetAtSeconds }) => ({
    quota: Number(allowance - used),
    unit: 'transactionCount',
    totalQuota: Number(allowance),
    resetDate: Number(resetAtSeconds),
  }),
  reserve: () => 1n,
  settle: () => 1n,
})
`

const quotaTestText = (id: string) => `import { expect } from 'chai'
import plugin from '../../../plugins/quota/${id}.ts'

const options = { calls: 3 }
const profile = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

describe('quota model ${id}', () => {
  it('opens an account until the next day', () => {
    const nowSeconds = Date.UTC(2026, 0, 1, 12) / 1000
    const resetAtSeconds = BigInt(Date.UTC(2026, 0, 2) / 1000)
    expect(plugin.open(nowSeconds, {}, options, profile)).to.deep.equal({ allowance: 3n, resetAtSeconds })
  })

  it('shows what is left', () => {
    const account = { profile, allowance: 3n, used: 1n, resetAtSeconds: 86_400n }
    expect(plugin.remaining(account, {}, options)).to.deep.equal({
      quota: 2,
      unit: 'transactionCount',
      totalQuota: 3,
      resetDate: 86_400,
    })
  })

  it('takes one for each call', () => {
    expect(plugin.reserve({ gasLimit: 21_000n, maxFeePerGasWei: 7n }, {}, options)).to.equal(1n)
    expect(plugin.settle({ gasUsed: 21_000n, effectiveGasPriceWei: 7n, dataFeeWei: 0n }, {}, options)).to.equal(1n)
  })
})
`
