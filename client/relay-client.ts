import { assertPositive } from './abi.ts'
import type { Call } from './call.ts'
import { createChannels } from './channels.ts'
import { signerOf, type Controller } from './controller.ts'
import { createExecute, type ExecuteOptions, type Execution, type Fallback } from './execute.ts'
import type { Fetch, Patience } from './post.ts'
import { createProfile } from './profile.ts'
import { createQuota, type Quota } from './quota.ts'
import { createRpc, type Eip1193Provider } from './rpc.ts'
import { createWait, type Outcome, type WaitOptions } from './wait.ts'

export interface RelayClientOptions extends Partial<Patience> {
  /** Where `POST /execute` and `POST /quota` are. */
  readonly relayUrl: string
  /** Address of the profile. */
  readonly profile: string
  /** Who signs: a controller of the profile. */
  readonly controller: Controller
  /** Of the profile's chain: the URL of a node, or an EIP-1193 provider. */
  readonly node: string | Eip1193Provider
  /** Absent: the node is asked. */
  readonly chainId?: number | bigint
  /** Default: the global one. */
  readonly fetch?: Fetch
  /**
   * How the nonce is written, which exceeds 2^53: `number` as the document has it, with all digits; `string` in quotes, for
   * relays that lose digits. Default `number`.
   */
  readonly nonceForm?: 'number' | 'string'
  /**
   * Sends a call as a transaction of the controller, who pays for it, when the relay refuses it and says that it sent
   * nothing. Default: none.
   */
  readonly fallback?: Fallback
}

export interface RelayClient {
  readonly profile: string
  /**
   * Has the relay execute a call of the profile. It is sent again after a lost answer, with the same signature and so with
   * one effect; `Retry-After` is kept.
   *
   * @throws RelayError the relay refuses it, or ANSWER_LOST; TypeError or RangeError the call cannot
   * be encoded; the reason of the signal
   */
  execute(call: Call, options?: ExecuteOptions): Promise<Execution>
  /** What the profile may still spend. @throws RelayError */
  quota(options?: { readonly signal?: AbortSignal }): Promise<Quota>
  /** Waits until a transaction is mined, whichever took its place. @throws RelayError WAIT_TIMED_OUT, NODE_FAILED */
  wait(transactionHash: string, options?: WaitOptions): Promise<Outcome>
}

const usualPatience: Patience = { attempts: 5, timeoutMs: 20_000, deadlineMs: 60_000 }

/**
 * A client of a transaction relay service (LSP15) for one controller of one profile. It asks nobody before it is used.
 *
 * @throws TypeError an option cannot be used
 *
 * @example
 * const client = createRelayClient({ relayUrl, profile, controller: privateKeyToAccount(key), node: rpcUrl })
 * const { transactionHash } = await client.execute({ to, data })
 */
export function createRelayClient(options: RelayClientOptions): RelayClient {
  const { node, chainId, nonceForm = 'number', fallback } = options
  const relayUrl = baseOf(options.relayUrl)
  const patience = patienceOf(options)
  const fetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init))
  const rpc = createRpc(node, { ...patience, fetch })
  const signer = signerOf(options.controller)
  const profile = createProfile(rpc, options.profile, chainId)
  const channels = createChannels(async (channel) => profile.nonce(await signer.address(), channel))
  const common = { relayUrl, profile, signer, fetch, patience }
  return {
    profile: profile.address,
    execute: createExecute({ ...common, channels, rpc, nonceForm, fallback }),
    quota: createQuota(common),
    wait: createWait(relayUrl, rpc, { ...patience, fetch }),
  }
}

/** Without the slashes at the end. @throws TypeError no URL */
function baseOf(relayUrl: string): string {
  if (!URL.canParse(relayUrl)) throw new TypeError(`relayUrl is no URL: ${relayUrl}`)
  return relayUrl.replace(/\/+$/, '')
}

/** @throws TypeError a number that is none above 0 */
function patienceOf({
  attempts = usualPatience.attempts,
  timeoutMs = usualPatience.timeoutMs,
  deadlineMs = usualPatience.deadlineMs,
}: Partial<Patience>): Patience {
  const patience = { attempts, timeoutMs, deadlineMs }
  for (const [name, value] of Object.entries(patience)) assertPositive(name, value)
  return patience
}
