import { type ClauseId, clauses } from '../../../specs/index.ts'
import type { Fixture } from '../../lib/fixture.ts'
import type { CheckResult, ClauseResult, Exchange, Report } from '../../lib/report-types.ts'
import { clauseStatus, countByLevel, verdictOf } from '../../lib/verdict.ts'

/** An answer of a hostile target: HTML that closes an element, control characters, and marks that reorder text. */
const hostileBody =
  '{"error":"</script></pre><img src=x onerror=alert(1)><script>document.title=\'owned\'</script> ]]> ``` | \u0007\u001b[31mred\u0000 \u202egnp ﷽ \ud800"}'

export function exchange(requestBody: string, responseBody: string, status = 200): Exchange {
  return {
    request: {
      method: 'POST',
      url: 'http://127.0.0.1:3000/api/eth-rpc',
      headers: { 'content-type': 'application/json' },
      body: requestBody,
    },
    response: { status, headers: { 'content-type': 'application/json' }, body: responseBody },
    durationMs: 3,
  }
}

export const passed: CheckResult = {
  title: 'is the id of the chain',
  status: 'passed',
  durationMs: 4,
  exchanges: [
    exchange(
      '{"id":1,"jsonrpc":"2.0","method":"eth_chainId","params":[]}',
      '{"jsonrpc":"2.0","id":1,"result":"0x7a69"}',
    ),
  ],
}

export const failed: CheckResult = {
  title: 'the whole range in one request, <b>bold</b>',
  status: 'failed',
  durationMs: 12,
  error: {
    message: 'the answer holds 2500 entries',
    expected: 'at most 1000 entries',
    actual: `2500 entries ${hostileBody}`,
  },
  exchanges: [
    exchange('{"id":2,"jsonrpc":"2.0","method":"eth_getLogs","params":[{"fromBlock":"0x5"}]}', hostileBody, 500),
    {
      request: { method: 'POST', url: 'http://127.0.0.1:3000/api/eth-rpc', headers: {} },
      response: null,
      failure: { kind: 'timeout', message: 'no answer within 5000 ms' },
      durationMs: 5000,
    },
  ],
}

export const untestable: CheckResult = {
  title: 'a walk over all pages',
  status: 'untestable',
  reason: 'no fixture was given',
  durationMs: 0,
  exchanges: [],
}

export const observed: CheckResult = {
  title: 'which headers tell of a limit',
  status: 'observed',
  observations: ['no header of a rate limit was seen'],
  durationMs: 2,
  exchanges: [],
}

export function clauseOf(id: ClauseId, ...tests: readonly CheckResult[]): ClauseResult {
  const { document, level, section, text } = clauses[id]
  const observation = tests.flatMap((check) => check.observations ?? []).join('; ')
  return {
    id,
    document,
    level,
    section,
    text,
    status: clauseStatus(tests),
    ...(observation ? { observation } : {}),
    tests,
  }
}

/** A report as `check` makes it; the summary and the verdict follow from the clauses. */
export function reportOf(results: readonly ClauseResult[], changes: Partial<Report> = {}): Report {
  return {
    suite: { name: 'touchstone', version: '0.1.0', edition: 'documents' },
    target: { relayUrl: 'http://127.0.0.1:3000', ethRpcUrl: 'http://127.0.0.1:3000' },
    startedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 4200,
    verdict: verdictOf(results, false),
    summary: countByLevel(results),
    clauses: results,
    options: { timeoutMs: 5000, readOnly: false, only: null },
    traffic: { requests: 40, timeouts: 1, unanswered: 1 },
    transactions: [],
    notes: [],
    ...changes,
  }
}

/** A clause of each status and level. */
const sampleClauses: readonly ClauseResult[] = [
  clauseOf('eth-rpc.eth_chainId.success', passed),
  clauseOf('eth-rpc.eth_getLogs.max-1000', passed, failed),
  clauseOf('eth-rpc.eth_getLogs.next-page', untestable),
  clauseOf('eth-rpc.response.error-codes', { ...failed, title: 'an unknown method' }),
  clauseOf('eth-rpc.limits.rate', observed),
  {
    ...clauseOf('relay.execute.bad-signature', failed),
    known: { id: 'relay.execute.bad-signature', reason: 'being repaired', link: 'https://example.org/1' },
  },
  clauseOf('relay.quota.unit', passed),
]

export const sampleReport: Report = reportOf(sampleClauses, {
  transactions: [
    {
      hash: `0x${'ab'.repeat(32)}`,
      clause: 'relay.execute.post',
      status: 'succeeded',
      gasUsed: '91234',
      feeWei: '91234000000000',
    },
  ],
  chain: { chainId: 31337, node: 'HardhatNetwork/3.17.0' },
  profile: { address: `0x${'11'.repeat(20)}`, keyManager: `0x${'22'.repeat(20)}` },
  notes: ['the chain answered slowly'],
  staleExpectedFailures: [{ id: 'relay.quota.window', why: 'it passes' }],
})

const address = `0x${'11'.repeat(20)}`
const account = { address, privateKey: `0x${'22'.repeat(32)}` }

/** The smallest fixture. Its chain does not exist. */
export const sampleFixture: Fixture = {
  chain: { rpcUrl: 'http://127.0.0.1:8545', chainId: 31337 },
  profile: { address, keyManager: address },
  controllers: { full: account, noSign: account, noRelay: account },
}
