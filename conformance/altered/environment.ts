/** A chain that differs from the testbed's: ids, blocks and forks are no matter of the documents. */
export interface ChainEnvironment {
  readonly chainId?: number
  /** As Hardhat names it. */
  readonly hardfork?: string
  /** A block every so many seconds; absent: a block per transaction, at once. */
  readonly blockTimeSeconds?: number
  /** Somebody else sends transactions and emits logs all the time. */
  readonly strangers?: true
  /** So many blocks without a transaction lie between the fixture and the run. */
  readonly emptyBlocks?: number
  /** The fixture names no logs to page through. */
  readonly withoutLogs?: true
}

/** Where an altered server listens; absent: 127.0.0.1 by HTTP, at the root. */
export interface ListenEnvironment {
  readonly host?: '127.0.0.1' | '::1'
  /** With a certificate that is made for it, and trusted by the run. */
  readonly https?: true
  /** Path before those of the documents, without a slash at its end: `/v1`. */
  readonly prefix?: string
  /** What is added to the URL that the suite is given. */
  readonly urlSuffix?: string
}

/** What an alteration of requests and answers cannot bring about. */
export interface Environment {
  readonly chain?: ChainEnvironment
  /** Members of the reference server's configuration, in place of the testbed's. */
  readonly server?: Readonly<Record<string, unknown>>
  readonly listen?: ListenEnvironment
  /** Further arguments of the command `check`. */
  readonly options?: readonly string[]
}
