import { concat, id, toBeHex } from 'ethers'
import { bundlerInterface, decodeBundle, type BundlerCall, type BundlerResult } from '../../contracts/deploy/bundler.ts'
import type { ContractsModel, ContractState, Execution } from './key-manager.ts'

/** Where the simulated chain has the contract `Bundler.sol`. */
export const BUNDLER_ADDRESS = '0x00000000000000000000000000000000000B0d1e'

/** What `Bundler.sol` keeps for what lies around a call. */
const RESERVE_GAS = 10_000n
/** What it uses around a call, and for its event. */
const AROUND_GAS = 400n
const EVENT_GAS = 1_500n
/** A CALL to an address that the transaction has not met before, and to one that it has (EIP-2929). */
const COLD_GAS = 2_600n
const WARM_GAS = 100n

const BUNDLED = id('Bundled(bytes)')

/** What a transaction to the bundler has done. */
export interface BundleExecution {
  readonly gasUsed: bigint
  /** What the bundler measured; those that are missing at the end were not made. */
  readonly results: readonly BundlerResult[]
  /** What each of them came to, without the cost of its CALL. */
  readonly executions: readonly Execution[]
}

/** The calls of a transaction to the bundler; undefined: it is to something else. */
export function bundleIn(to: string, data: string): BundlerCall[] | undefined {
  return to.toLowerCase() === BUNDLER_ADDRESS.toLowerCase() ? decodeBundle(data) : undefined
}

/** `Bundler.sol` as a model: each call gets its limit, and one that fails changes nothing of the others. */
export function executeBundle(
  contracts: ContractsModel,
  state: ContractState,
  calls: readonly BundlerCall[],
  { gas, timestamp }: { readonly gas: bigint; readonly timestamp: number },
): BundleExecution {
  const met = new Set<string>()
  const results: BundlerResult[] = []
  const executions: Execution[] = []
  let left = gas - EVENT_GAS
  for (const { to, data, gasLimit } of calls) {
    if (left - left / 64n < gasLimit + RESERVE_GAS) break
    const execution = contracts.call(state, { to, data, gasLimit, timestamp })
    const gasUsed = execution.gasUsed + (met.has(to) ? WARM_GAS : COLD_GAS)
    met.add(to)
    left -= gasUsed + AROUND_GAS
    results.push({ success: execution.success, gasUsed })
    executions.push(execution)
  }
  return { gasUsed: gas - left, results, executions }
}

/** The event of the bundler, as a receipt holds it. */
export function bundledLog(results: readonly BundlerResult[]) {
  const records = results.map(({ success, gasUsed }) => toBeHex((BigInt(success) << 56n) | gasUsed, 8))
  const { data } = bundlerInterface.encodeEventLog('Bundled', [concat(records)])
  return { address: BUNDLER_ADDRESS.toLowerCase(), topics: [BUNDLED], data }
}
