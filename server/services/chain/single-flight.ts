interface Flight {
  readonly result: Promise<unknown>
  begun: boolean
}

/**
 * Makes identical calls once, and never answers a caller with what was read before it asked. Calls of one turn of the
 * event loop gather and begin together. Who comes while a call is under way waits until it is done and then looks again:
 * the answer may be older than the question. So at most one call per key is under way, and one more waits.
 */
export class SingleFlight {
  readonly #flights = new Map<string, Flight>()
  #gathering: (() => void)[] = []

  /**
   * @param begin makes the call; it must not resolve to undefined
   * @returns the call's result, or undefined when this caller came too late for the call under way, which is done now
   */
  async run<T>(key: string, begin: () => Promise<T>): Promise<T | undefined> {
    const flight = this.#flights.get(key)
    if (flight?.begun) {
      await flight.result.catch(() => undefined)
      return undefined
    }
    return (flight ?? this.#open(key, begin)).result as Promise<T>
  }

  /** Like {@link run}, for calls whose results are kept nowhere: who comes too late takes part in the next call. */
  async fresh<T>(key: string, begin: () => Promise<T>): Promise<T> {
    for (;;) {
      const result = await this.run(key, begin)
      if (result !== undefined) return result
    }
  }

  #open<T>(key: string, begin: () => Promise<T>): Flight {
    const result = new Promise<T>((resolve, reject) => {
      if (this.#gathering.length === 0) setImmediate(() => this.#begin())
      this.#gathering.push(() => {
        flight.begun = true
        begin()
          .finally(() => this.#flights.delete(key))
          .then(resolve, reject)
      })
    })
    const flight: Flight = { result, begun: false }
    this.#flights.set(key, flight)
    return flight
  }

  #begin(): void {
    const gathered = this.#gathering
    this.#gathering = []
    for (const begin of gathered) begin()
  }
}
