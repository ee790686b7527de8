import { setImmediate as nextTurn } from 'node:timers/promises'
import { accountKey } from '../../services/relayer/account-queue.ts'
import type { Tracing } from '../../telemetry/tracing.ts'
import type { RelayChain } from './relay-chain.ts'
import { startRelayServer, type RelayServer, type RelayServerOptions } from './relay-server.ts'
import { until } from './until.ts'

export interface BundlingServer extends RelayServer {
  /**
   * Makes requests, and holds the relayer's accounts until the calls have been tried: they wait for an account at the same
   * moment.
   *
   * @param requests of one call each; calls that are tried in one run, and those that follow on a call that waits, are
   *   `untried`
   */
  together<T>(requests: readonly (() => Promise<T>)[], untried?: number): Promise<T[]>
}

/** The requests that come after the last simulation has ended. */
const TURNS = 50

/** A relay server that puts the calls that wait for an account into one transaction. */
export async function startBundlingServer(
  chain: RelayChain,
  { config = {}, ...options }: Partial<RelayServerOptions> = {},
  maxCalls = 16,
): Promise<BundlingServer> {
  const simulations = { ended: 0 }
  const server = await startRelayServer({
    rpcUrl: chain.node.rpcUrl,
    signerKeys: chain.signerKeys,
    ...options,
    config: {
      ...config,
      relay: { ...(config['relay'] as object), bundle: { contract: await chain.bundler(), maxCalls } },
    },
    compose: { tracing: watch(simulations) },
  })
  return {
    ...server,
    together: async (requests, untried = 0) => {
      const wanted = simulations.ended + requests.length - untried
      const release = Promise.withResolvers<void>()
      const held = chain.signers.map((signer) => server.database.exclusively(accountKey(signer), () => release.promise))
      const answers = Promise.all(requests.map((request) => request()))
      try {
        await Promise.race([answers, until(() => simulations.ended >= wanted)])
        for (let turn = 0; turn < TURNS; turn++) await nextTurn()
      } finally {
        release.resolve()
      }
      await Promise.all(held)
      return answers
    },
  }
}

/** Traces nothing, and counts the calls that were tried. */
function watch(simulations: { ended: number }): Tracing {
  return {
    span: async (name, { attributes }, work) => {
      const result = await work({ rename: () => {}, set: () => {}, fail: () => {} })
      if (name === 'simulate') simulations.ended += Number(attributes?.['touchstone.relay.calls'])
      return result
    },
    record: () => {},
    current: () => ({}) as ReturnType<Tracing['current']>,
    incoming: () => ({}) as ReturnType<Tracing['incoming']>,
    traceparent: () => undefined,
    close: async () => {},
  }
}
