/** Calls that are made at the same time by so many workers. */
export interface RelayLoad {
  readonly workers: number
  /** In all. */
  readonly tasks: number
  readonly firstChannel: bigint
}

/** Each call of a worker has a channel of its own: none depends on another one's being mined. */
export function channelsOf({ workers, tasks, firstChannel }: RelayLoad, worker: number): bigint[] {
  const each = Math.ceil(tasks / workers)
  return Array.from({ length: each }, (_, index) => firstChannel + BigInt(worker * each + index))
}
