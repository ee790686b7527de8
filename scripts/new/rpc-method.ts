import type { Scaffold } from './scaffold.ts'
import { paramsSchema } from './params-schema.ts'

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
      [paths.plugin, pluginText(method, id)],
      [`server/test/plugins/rpc-method/${method}.test.ts`, testText(method, params)],
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

const pluginText = (method: string, id: string) => `import { defineRpcMethod } from '../../core/define.ts'

/** Asks the node. Parameters and result are valid against the schema of the same name. */
export default defineRpcMethod({
  method: '${method}',
  clauses: ['${id}'],
  needs: ['upstream'],
  handle: (params, { upstream }) => upstream.request('${method}', params),
})
`

const testText = (method: string, params: readonly unknown[]) => `import { expect } from 'chai'
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
