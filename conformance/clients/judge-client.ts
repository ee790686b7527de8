import type { Fixture } from '../lib/fixture.ts'
import { Untestable, UsageError } from '../lib/outcome.ts'
import type { Report } from '../lib/report-types.ts'
import { judgeRecording, type JudgeOptions } from './judge.ts'
import { startJudgingRelay, type JudgingRelayOptions } from './judging-relay.ts'
import type { Recording } from './recording.ts'

/** What a client is given. */
export interface Given {
  /** The base URL of both documents. */
  readonly relayUrl: string
  /** Its chain, its profile and its controllers. */
  readonly fixture: Fixture
}

/**
 * Lets a client act, and records what it does.
 *
 * @param act ends when the client does; what it returns says why the client was ended before it was done
 * @throws UsageError when the relay behind, or the chain's node, does not answer: nobody is judged then
 */
export async function recordClient(
  options: JudgingRelayOptions,
  act: (given: Given) => Promise<string | void>,
): Promise<Recording & { readonly relayUrl: string }> {
  const relay = await startJudgingRelay(options)
  try {
    const { fixture } = options
    const server = { relayUrl: relay.url, ethRpcBaseUrl: relay.url }
    const cutShort = await act({ relayUrl: relay.url, fixture: { ...fixture, server } })
    return { ...(await relay.finish(cutShort ?? undefined)), relayUrl: relay.url }
  } catch (error) {
    if (error instanceof Untestable) throw new UsageError(`the client cannot be judged: ${error.message}`)
    throw error
  } finally {
    await relay.close()
  }
}

/** Lets a client act, and judges it. @throws UsageError as {@link recordClient} */
export async function judgeClient(
  options: JudgingRelayOptions & Pick<JudgeOptions, 'client' | 'only' | 'edition' | 'timeoutMs' | 'expectedFailures'>,
  act: (given: Given) => Promise<string | void>,
): Promise<Report> {
  const startedMs = Date.now()
  const { relayUrl, ...recording } = await recordClient(options, act)
  return judgeRecording(recording, { ...options, relayUrl, startedMs })
}
