import { createProfile, type Eip1193Provider } from './chain.ts'
import { isRelayError } from './relay-error.ts'
import type { RelayClient } from './relay-client.ts'

/** "Transaction rejected" of EIP-1474: libraries do not repeat such a call. */
const TRANSACTION_REJECTED = -32003
/** Libraries try a transaction by these before they send it. */
const TRIALS: readonly string[] = ['eth_call', 'eth_estimateGas']
/** A page that listens hears of nothing when the other provider has other accounts: the account stays the profile. */
const LISTENS: readonly (string | symbol)[] = ['on', 'once', 'addListener']

interface TransactionRequest {
  readonly from?: string
  readonly to?: string
  readonly value?: string
  readonly data?: string
  /** Some libraries use this name for the call data. */
  readonly input?: string
}

/**
 * An EIP-1193 provider whose account is the profile: `eth_sendTransaction` becomes a relay call, everything else goes to
 * the other provider. For ethers `new BrowserProvider(…)`, for viem `custom(…)`. What the profile does to itself is tried as
 * the key manager would do it, because the profile does not own itself.
 *
 * Errors of the relay have the code -32003 and the {@link RelayError} as `cause`.
 */
export function createRelayProvider<Provider extends Eip1193Provider>(
  client: RelayClient,
  provider: Provider,
): Provider {
  const isProfile = (address: string | undefined) => address?.toLowerCase() === client.profile.toLowerCase()
  const ask: Eip1193Provider['request'] = ({ method, params }) =>
    provider.request(params === undefined ? { method } : { method, params })
  const tryAsKeyManager = async (method: string, [transaction, ...rest]: readonly unknown[]): Promise<unknown> => {
    // Read each time: the profile may have another one by now.
    const profile = createProfile(async (name, params) => ask({ method: name, params }), client.profile)
    return ask({ method, params: [{ ...(transaction as object), from: await profile.keyManager() }, ...rest] })
  }
  const request: Eip1193Provider['request'] = async ({ method, params }) => {
    if (method === 'eth_accounts' || method === 'eth_requestAccounts') return [client.profile]
    const [transaction] = (Array.isArray(params) ? params : []) as [TransactionRequest?]
    if (TRIALS.includes(method) && isProfile(transaction?.from) && isProfile(transaction?.to)) {
      return tryAsKeyManager(method, params as readonly unknown[])
    }
    const isOurs = transaction && (transaction.from === undefined || isProfile(transaction.from))
    if (method !== 'eth_sendTransaction' || !isOurs) return ask({ method, params })
    const { to, value, data = transaction.input } = transaction
    try {
      const { transactionHash } = await client.execute({
        ...(to !== undefined && { to }),
        ...(value !== undefined && { value }),
        ...(data !== undefined && { data }),
      })
      return transactionHash
    } catch (cause) {
      if (!isRelayError(cause)) throw cause
      const { code, details, broadcast } = cause
      throw Object.assign(new Error(cause.message, { cause }), {
        code: TRANSACTION_REJECTED,
        data: { code, broadcast, details },
      })
    }
  }
  // Events and flags are those of the other provider. That provider is not the proxy's target: if the target is frozen, a
  // proxy cannot return another `request`.
  return new Proxy({} as Provider, {
    has: (_target, name) => name in provider,
    get: (_target, name, proxy: unknown) => {
      if (name === 'request') return request
      const member: unknown = Reflect.get(provider, name)
      if (typeof member !== 'function') return member
      const bound = member.bind(provider) as (...values: readonly unknown[]) => unknown
      if (!LISTENS.includes(name)) return bound
      return (...values: readonly unknown[]) => (values[0] === 'accountsChanged' ? proxy : bound(...values))
    },
  })
}
