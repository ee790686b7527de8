/** What a node says of its chain; undefined what it does not tell. */
export interface ToldIdentity {
  readonly chainId: string | undefined
  /** Hash of the first block, which some nodes do not keep. Chain ids alone do not tell development chains apart. */
  readonly genesis: string | undefined
}

/** Which chain the server is about: decided once, and held against whatever its nodes say later. */
export class ChainIdentity {
  #learns: boolean
  #chainId: string | undefined
  #genesis: string | undefined

  /** @param learns whether what is told first is believed; otherwise nothing is, until {@link decide} */
  constructor(learns: boolean) {
    this.#learns = learns
  }

  /** Believes what most of the nodes say; of two opinions with as many nodes, the one that comes first. */
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

  /** @returns what differs, in words; undefined when nothing does */
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
