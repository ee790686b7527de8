import type { Scaffold } from './scaffold.ts'

/** A suite about what the reference server offers beyond the documents: `GET /transactions/{hash}`. */
export function suiteScaffold(prefix: string): Scaffold {
  const suite = `conformance/extensions/${prefix}.ts`
  return {
    files: new Map([[suite, suiteText(prefix)]]),
    next: [
      `${suite}: your sentences, your checks, and a mutant for each sentence (docs/suites.md)`,
      `npm run check -- --suite ./${suite} --only ${prefix}`,
      `npm run prove -- --suite ./${suite}`,
      "in a package of its own it imports from 'touchstone/suite'",
    ],
  }
}

const suiteText = (prefix: string) => `${helpersText}
export default defineSuite({
  prefix: '${prefix}',
  title: 'What became of a call',
${clausesText(prefix)}${checksText(prefix)}${proofText(prefix)}})
`

const helpersText = `import {
  attemptCall,
  type CheckContext,
  clause,
  defineSuite,
  expect,
  Fault,
  type Handler,
  respond,
} from '../suite.ts'

/** Asks what became of a relay call that was just sent. */
async function statusOfCall(t: CheckContext) {
  const { hash } = await attemptCall(t)
  const answer = await t.at(\`/transactions/\${hash}\`).sendRaw(undefined, { method: 'GET' })
  const { transactionHash, status } = (answer.json ?? {}) as Readonly<Record<string, unknown>>
  return { hash, answer, transactionHash, status }
}

const isAboutTransaction = (path: string): boolean => path.startsWith('/transactions/')

/** Answers for a transaction by something else. */
const answering =
  (alter: (json: object) => object): Handler =>
  async (request, forward) => {
    const answer = await forward(request)
    if (!isAboutTransaction(request.path) || answer.status !== 200) return answer
    return respond(200, alter(answer.json as object))
  }
`

const clausesText = (prefix: string) => `
  clauses: {
    '${prefix}.transactions.hash': {
      level: 'required',
      section: 'specs/openapi.yaml',
      text: 'GET /transactions/{hash} of a relay call answers with its transactionHash.',
      needs: ['chain', 'fixture', 'spend'],
    },
    '${prefix}.transactions.unknown': {
      level: 'required',
      section: 'specs/openapi.yaml',
      text: 'GET /transactions/{hash} of a transaction that the relay never sent is refused.',
      needs: ['chain', 'fixture', 'spend'],
    },
    '${prefix}.transactions.words': {
      level: 'unspecified',
      section: 'specs/openapi.yaml',
      text: 'By which word a call is called executed.',
      needs: ['chain', 'fixture', 'spend'],
    },
  },
`

const checksText = (prefix: string) => `
  checks: [
    clause('${prefix}.transactions.hash', (check) => {
      check('of a call that was just sent', async (t) => {
        const { hash, answer, transactionHash } = await t.once('${prefix}.call', statusOfCall)
        expect(transactionHash, 'transactionHash').shownBy(answer).to.equal(hash)
      })
    }),

    clause('${prefix}.transactions.unknown', (check) => {
      check('beside one that is answered', async (t) => {
        const { answer: twin } = await t.once('${prefix}.call', statusOfCall)
        expect(twin).to.have.property('status', 200)
        const answer = await t.at(\`/transactions/0x\${'00'.repeat(32)}\`).sendRaw(undefined, { method: 'GET' })
        if (answer.status !== 404) throw new Fault('an unknown transaction is answered', { expected: '404', answer })
      })
    }),

    clause('${prefix}.transactions.words', (check) => {
      check('of a call that was just sent', async (t) => {
        const { status } = await t.once('${prefix}.call', statusOfCall)
        t.observe(String(status))
      })
    }),
  ],
`

const proofText = (prefix: string) => `
  mutants: [
    {
      clause: '${prefix}.transactions.hash',
      fault: 'the hash of another transaction is told',
      every: answering((json) => ({ ...json, transactionHash: \`0x\${'11'.repeat(32)}\` })),
    },
    {
      clause: '${prefix}.transactions.unknown',
      fault: 'any transaction is known',
      every: async (request, forward) => {
        const answer = await forward(request)
        return isAboutTransaction(request.path) && answer.status === 404 ? respond(200, {}) : answer
      },
    },
  ],

  lawful: [
    {
      id: 'tells-more-of-the-transaction',
      clauses: ['${prefix}.transactions.hash'],
      allowedBy: 'that nothing else may stand beside transactionHash is not said',
      every: answering((json) => ({ node: 'a', ...json })),
    },
  ],
`
