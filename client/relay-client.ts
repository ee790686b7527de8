import { assertPositive, type Call } from './encoding.ts'
import { createChannels } from './channels.ts'
import { signerOf, type Controller } from './controller.ts'
import { endpointsBelow } from './endpoint.ts'
import { createExecute, type ExecuteOptions, type Execution, type Fallback } from './execute.ts'
import type { Fetch, Patience } from './post.ts'
import { createProfile, createRpc, type Eip1193Provider } from './chain.ts'
import { createQuota, type Quota } from './quota.ts'
import { createWait, type Outcome, type WaitOptions } from './wait.ts'

export interface RelayClientOptions extends Partial<Patience> {
  /** Base URL of `POST /execute` and `POST /quota`; it may have a query, and user and password. */
  readonly relayUrl: string
  /** Address of the profile. */
  readonly profile: string
  /** The controller of the profile that signs. */
  readonly controller: Controller
  /** A node of the profile's chain: its URL, or an EIP-1193 provider. */
  readonly node: string | Eip1193Provider
  /** Absent: the client asks the node. */
  readonly chainId?: number | bigint
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch
  /**
   * How the nonce is written, which exceeds 2^53: as a JSON `number` with all digits, as in the document, or as a `string`,
   * for relays that lose digits. Default `number`.
   */
  readonly nonceForm?: 'number' | 'string'
  /**
   * Sends a transaction of the controller, who pays for it. It is used when the relay refuses the call and says that it
   * sent nothing, and when it does not answer. Default: none.
   */
  readonly fallback?: Fallback
}

export interface RelayClient {
  readonly profile: string
  /**
   * Has the relay execute a call of the profile. After a lost answer the same signed call is sent again, which the
   * relay executes once. The client waits as `Retry-After` asks.
   *
   * @throws RelayError the relay refuses it, or ANSWER_LOST; TypeError or RangeError the call cannot
   * be encoded; the reason of the signal
   */
  execute(call: Call, options?: ExecuteOptions): Promise<Execution>
  /** What the profile may still spend. @throws RelayError */
  quota(options?: { readonly signal?: AbortSignal }): Promise<Quota>
  /**
   * Waits until a transaction, or the one that replaced it, is mined. @throws RelayError WAIT_TIMED_OUT, NODE_FAILED
   */
  wait(transactionHash: string, options?: WaitOptions): Promise<Outcome>
}

const usualPatience: Patience = { attempts: 5, timeoutMs: 20_000, deadlineMs: 60_000 }

/**
 * Makes a client of a transaction relay service (LSP15) for one controller of one profile. It sends no request before
 * it is used.
 *
 * @throws TypeError an option cannot be used
 *
 * @example
 * const client = createRelayClient({ relayUrl, profile, controller: privateKeyToAccount(key), node: rpcUrl })
 * const { transactionHash } = await client.execute({ to, data })
 */
export function createRelayClient(options: RelayClientOptions): RelayClient {
  const { node, chainId, nonceForm = 'number', fallback } = options
  const relayAt = endpointsBelow(options.relayUrl, 'relayUrl')
  const patience = patienceOf(options)
  const fetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init))
  const rpc = createRpc(node, { ...patience, fetch })
  const signer = signerOf(options.controller)
  const profile = createProfile(rpc, options.profile, chainId)
  const channels = createChannels(async (channel) => profile.nonce(await signer.address(), channel))
  const common = { relayAt, profile, signer, fetch, patience }
  return {
    profile: profile.address,
    execute: createExecute({ ...common, channels, rpc, nonceForm, fallback }),
    quota: createQuota(common),
    wait: createWait(relayAt, rpc, { ...patience, fetch }),
  }
}

/** @throws TypeError an option is not a number above 0 */
function patienceOf({
  attempts = usualPatience.attempts,
  timeoutMs = usualPatience.timeoutMs,
  deadlineMs = usualPatience.deadlineMs,
}: Partial<Patience>): Patience {
  const patience = { attempts, timeoutMs, deadlineMs }
  for (const [name, value] of Object.entries(patience)) assertPositive(name, value)
  return patience
}
