import type { CheckStatus, ClauseResult, Report, Verdict } from '../report-types.ts'

/** What a reader is shown as the status of a clause: an expected failure is set apart from a new one. */
export type ShownStatus = CheckStatus | 'known'

/** The order in which statuses deserve attention. */
export const shownStatuses: readonly ShownStatus[] = ['failed', 'known', 'untestable', 'observed', 'passed']

/** The status of a clause as shown: `known` for a failure that was expected. */
export function shownStatus(clause: Pick<ClauseResult, 'status' | 'known'>): ShownStatus {
  return clause.status === 'failed' && clause.known ? 'known' : clause.status
}

/** A sign that tells statuses apart without colour. */
export const statusSign: Readonly<Record<ShownStatus, string>> = {
  passed: '✓',
  failed: '✗',
  known: '≈',
  untestable: '?',
  observed: '·',
}

export const verdictWord: Readonly<Record<Verdict, string>> = {
  conformant: 'Conformant',
  passed: 'Passed',
  nonconformant: 'Not conformant',
  partial: 'Partial',
  error: 'No judgement',
}

export const documentTitle: Readonly<Record<ClauseResult['document'], string>> = {
  'eth-rpc': 'Ethereum-compatible JSON-RPC interface',
  relay: 'Transaction relay service interface',
}

/** The URLs that were checked, as one short text. */
export function targetName(target: Report['target']): string {
  const urls = [target.relayUrl, target.ethRpcUrl].filter((url) => url !== null)
  return [...new Set(urls)].join(' and ') || 'no target'
}

/** What was seen and is not judged, each once. */
export function observationsOf(clause: Pick<ClauseResult, 'observation' | 'tests'>): string[] {
  const each = clause.tests.flatMap((check) => check.observations ?? [])
  return [...new Set(each.length > 0 || clause.observation === undefined ? each : [clause.observation])]
}
