import { setTimeout as sleep } from 'node:timers/promises'
import { isHexString, type JsonRpcPayload, type JsonRpcProvider, type JsonRpcResult, Network } from 'ethers'
import { NodeProvider } from '../contracts/deploy/node-provider.ts'
import { authorizationOf } from '../conformance/lib/http.ts'
import { isLimitError } from '../conformance/lib/limits.ts'
import { UsageError } from '../conformance/lib/outcome.ts'
import { redactUrl } from '../conformance/lib/redact.ts'
import { withoutUser } from '../conformance/lib/target.ts'

/** What commands share that deploy contracts on any chain: who pays, and through which node. */

const NODE_TIMEOUT_MS = 10_000
/** A request is sent again so many times, within some 12 seconds. */
const MOST_REPEATS = 6
/** Each further pause is twice as long. */
const FIRST_PAUSE_MS = 200

/** @throws UsageError that does not repeat the key */
export function parseKey(key: string | undefined): string {
  if (key === undefined) throw new UsageError('who pays? Set FUNDER_KEY to the private key of an account with coin')
  const prefixed = key.startsWith('0x') ? key : `0x${key}`
  if (!isHexString(prefixed, 32)) throw new UsageError('the key of the funder is not 32 bytes in hex')
  return prefixed
}

/** Asks again where the node limits requests and says so by an error of JSON-RPC. ethers does so where it answers HTTP 429. */
class PatientProvider extends NodeProvider {
  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<JsonRpcResult[]> {
    for (let repeats = 0; ; repeats++) {
      const answers = await super._send(payload)
      if (repeats === MOST_REPEATS || !answers.some(isLimitError)) return answers
      await sleep(FIRST_PAUSE_MS * 2 ** repeats)
    }
  }
}

/** @throws UsageError the URL is none, or the node does not answer */
export async function connect(rpcUrl: string): Promise<JsonRpcProvider> {
  const network = Network.from(await readChainId(rpcUrl))
  return new PatientProvider(rpcUrl, network, { staticNetwork: network, batchMaxCount: 1, cacheTimeout: -1 })
}

/** Asked without ethers, which would try for ever and say so each second. */
async function readChainId(rpcUrl: string): Promise<bigint> {
  // fetch takes no URL with a user.
  const url = withoutUser(rpcUrl)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...authorizationOf(rpcUrl) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }),
      signal: AbortSignal.timeout(NODE_TIMEOUT_MS),
    })
    const { result } = (await response.json()) as { result: string }
    return BigInt(result)
  } catch (error) {
    throw new UsageError(`no Ethereum node answers at ${redactUrl(url)} (${reasonOf(error)})`, { cause: error })
  }
}

/** The most characters of what a node says. */
const MAX_SAID = 300

/**
 * The shortest true reason, on one line. Messages of ethers hold whole transactions; and where ethers does not know what a node
 * answers, it says `missing revert data` or `could not coalesce error` in place of it.
 */
export function reasonOf(error: unknown): string {
  const {
    shortMessage,
    message,
    cause,
    info,
    error: inner,
  } = error as {
    shortMessage?: string
    message?: string
    cause?: { code?: string }
    /** Of an error of ethers, with the error object of the node's answer. */
    info?: { error?: { message?: string } }
    /** The same, where ethers knows no kind of error for it. */
    error?: { message?: string }
  }
  const said = info?.error?.message ?? inner?.message
  if (said !== undefined) return `the node says: ${said.replaceAll(/\s+/g, ' ').slice(0, MAX_SAID)}`
  return cause?.code ?? shortMessage ?? message ?? String(error)
}
