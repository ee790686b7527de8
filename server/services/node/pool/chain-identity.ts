/** What a node says of its chain. A member is undefined when the node does not tell it. */
export interface ToldIdentity {
  readonly chainId: string | undefined
  /** Hash of block 0, by which development chains with the same id differ. Some nodes do not keep that block. */
  readonly genesis: string | undefined
}

/** The chain that the server is about. It is decided once; a node that says otherwise later is not used. */
export class ChainIdentity {
  #learns: boolean
  #chainId: string | undefined
  #genesis: string | undefined

  /**
   * @param learns whether the first node that tells its chain is believed; otherwise {@link decide} has to be called
   */
  constructor(learns: boolean) {
    this.#learns = learns
  }

  /**
   * Takes the chain that most nodes tell. When two chains have as many nodes, the one that is listed first is taken.
   */
  decide(told: readonly ToldIdentity[]): void {
    const names = told.map(({ chainId, genesis }) => `${chainId} ${genesis}`)
    const count = (name: string) => names.filter((one) => one === name).length
    const best = told.reduce<number>((found, _, index) => {
      return found === -1 || count(names[index] ?? '') > count(names[found] ?? '') ? index : found
    }, -1)
    this.#chainId ??= told[best]?.chainId
    this.#genesis ??= told[best]?.genesis
    this.#learns = true
  }

  /** @returns how this chain differs from the server's, in words; undefined when it does not */
  differenceOf({ chainId, genesis }: ToldIdentity): string | undefined {
    if (chainId !== undefined && this.#chainId !== undefined && Number(chainId) !== Number(this.#chainId)) {
      return `chain id ${chainId}, not ${this.#chainId}`
    }
    if (genesis !== undefined && this.#genesis !== undefined && genesis !== this.#genesis) {
      return `first block ${genesis}, not ${this.#genesis}`
    }
    if (this.#learns) {
      this.#chainId ??= chainId
      this.#genesis ??= genesis
    }
    return undefined
  }
}
