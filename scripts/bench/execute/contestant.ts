import type { LoadResult } from '../support/load.ts'

/** Calls that are made at the same time by so many workers. */
export interface Load {
  readonly workers: number
  /** In all. */
  readonly tasks: number
  readonly firstChannel: bigint
}

/** One of two that do the same work by turns, each on a chain of its own. */
export interface Contestant {
  /** @returns what it came to; the rate counts the time until all is mined */
  run(load: Load): Promise<LoadResult>
  /** Resolves when nothing that it was given is left to do: then the other one has the machine for itself. */
  rest(): Promise<void>
  close(): Promise<void>
}

/** Each call of a worker has a channel of its own: none depends on another one's being mined. */
export function channelsOf({ workers, tasks, firstChannel }: Load, worker: number): bigint[] {
  const each = Math.ceil(tasks / workers)
  return Array.from({ length: each }, (_, index) => firstChannel + BigInt(worker * each + index))
}
