import { Semaphore } from './semaphore.ts'

/** Lets at most so many tasks of each key run at a time: who has many of them makes only those of the same key wait. */
export class KeyedSemaphore {
  readonly #limit: number
  readonly #places = new Map<string, { readonly semaphore: Semaphore; tasks: number }>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Keys that have tasks now. */
  get size(): number {
    return this.#places.size
  }

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const place = this.#places.get(key) ?? { semaphore: new Semaphore(this.#limit), tasks: 0 }
    this.#places.set(key, place)
    place.tasks++
    try {
      return await place.semaphore.run(task)
    } finally {
      if (--place.tasks === 0) this.#places.delete(key)
    }
  }
}
