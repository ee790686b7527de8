import type { Answer } from './answer.ts'
import type { HttpClient } from './http.ts'
import { stringify } from './lossless-json.ts'
import { redactUrl } from './redact.ts'
import type { AdjustableClock } from './target-clock.ts'
import { ourTimeMs } from './target-clock.ts'
import type { Target } from './target.ts'
import { endpointsOf } from './target.ts'
import { UsageError } from './usage-error.ts'

async function ask(http: HttpClient, url: string, body: unknown): Promise<Answer> {
  const request = { url, method: 'POST', headers: { 'content-type': 'application/json' }, body: stringify(body) }
  const first = await http.send(request)
  // The first request may wake a sleeping service; a refused connection will not change.
  return first.failure?.kind === 'timeout' ? http.send(request) : first
}

/**
 * Makes sure that somebody is there before anything is judged, and reads the target's clock. Nothing that is sent here
 * can spend.
 *
 * @throws UsageError when nobody answers at one of the hosts
 */
export async function probe(http: HttpClient, target: Target, clock: AdjustableClock): Promise<void> {
  const { quota, rpc } = endpointsOf(target)
  const asked: Promise<readonly [string, Answer]>[] = []
  if (target.relayUrl !== null) {
    const sentAtMs = ourTimeMs()
    asked.push(
      ask(http, quota.url, {}).then((answer) => {
        clock.see(answer.headers['date'], sentAtMs, ourTimeMs())
        return [quota.url, answer]
      }),
    )
  }
  if (target.ethRpcUrl !== null) {
    const body = { id: 1, jsonrpc: '2.0', method: 'eth_chainId', params: [] }
    asked.push(ask(http, rpc.url, body).then((answer) => [rpc.url, answer]))
  }
  const answers = await Promise.all(asked)
  const hosts = Map.groupBy(answers, ([url]) => new URL(url).host)
  for (const found of hosts.values()) {
    const [first] = found
    // To close the connection is a way to refuse the empty body of POST /quota: where that is all, somebody may be there.
    const mayRefuse = found.every(([url]) => url === quota.url)
    if (first && found.every(([, { failure }]) => failure && !(mayRefuse && failure.kind === 'closed'))) {
      throw new UsageError(`the target does not answer at ${redactUrl(first[0])}: ${first[1].failure?.message}`)
    }
  }
}
