import { UpstreamRpcError, type Upstream } from './upstream.ts'

/** What development nodes call themselves in `web3_clientVersion`. */
const DEVELOPMENT = /^(?:HardhatNetwork|anvil|Ganache|EthereumJS TestRPC)\b/i

/**
 * Whether the node is a development node. Such a node can do what others cannot: take blocks back (`evm_revert`), and
 * change state and fees without a new block (`hardhat_setBalance`).
 */
export class NodeKind {
  readonly #upstream: Upstream
  #development: boolean | undefined
  #asked: Promise<boolean> | undefined

  constructor(upstream: Upstream) {
    this.#upstream = upstream
  }

  /** Whether blocks may be taken back at any time; true until it is known. */
  get mayRewind(): boolean {
    if (this.#development === undefined) this.isDevelopment().catch(() => undefined)
    return this.#development ?? true
  }

  /** Asks the node once. @throws ServiceError UPSTREAM_UNAVAILABLE */
  async isDevelopment(): Promise<boolean> {
    return this.#development ?? (this.#asked ??= this.#ask().finally(() => (this.#asked = undefined)))
  }

  async #ask(): Promise<boolean> {
    let version: unknown
    try {
      version = await this.#upstream.request('web3_clientVersion', [])
    } catch (error) {
      // Every development node answers this method, so a node that refuses it is none.
      if (!(error instanceof UpstreamRpcError)) throw error
    }
    this.#development = typeof version === 'string' && DEVELOPMENT.test(version)
    return this.#development
  }
}
