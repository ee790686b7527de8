/** Keeps values within a budget of bytes. The value that was not used for the longest time is dropped first. */
export class ByteCache<V> {
  readonly #budget: number
  readonly #entries = new Map<string, { readonly value: V; readonly bytes: number }>()
  #bytes = 0

  constructor(budgetBytes: number) {
    this.#budget = budgetBytes
  }

  /** Bytes in use, by the sizes that `set` was given. */
  get bytes(): number {
    return this.#bytes
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    // A map keeps the order of insertion, so its first entry is the one that was not used for the longest time.
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** A value larger than the whole budget is not kept. */
  set(key: string, value: V, bytes: number): void {
    this.delete(key)
    if (bytes > this.#budget) return
    this.#entries.set(key, { value, bytes })
    this.#bytes += bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#budget) break
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }
}
