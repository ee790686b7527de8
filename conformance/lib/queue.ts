/** Lets those who enter it pass one at a time, in the order in which they came. */
export interface Queue {
  /** Whether somebody has entered it and not left. */
  readonly isTaken: boolean
  /**
   * Waits until all who entered before have left.
   *
   * @returns leaves the queue; to be called once
   */
  enter(): Promise<() => void>
}

export function createQueue(): Queue {
  let last = Promise.resolve()
  let inside = 0
  return {
    get isTaken() {
      return inside > 0
    },
    async enter() {
      const before = last
      const { promise, resolve } = Promise.withResolvers<void>()
      last = promise
      inside++
      await before
      return () => {
        inside--
        resolve()
      }
    },
  }
}
