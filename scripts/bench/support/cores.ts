import { spawnSync } from 'node:child_process'

/** A core that is kept free for one process. */
export interface ReservedCore {
  readonly number: number
  /** Lets this process use the core again. Processes that it has started meanwhile stay away. */
  release(): void
}

/**
 * Moves this process, and all that it starts from now on, away from one core.
 *
 * @returns undefined where there is no second core, or no `taskset` (util-linux) to do it
 */
export function reserveCore(): ReservedCore | undefined {
  const cores = allowedCores()
  const [number, ...others] = cores
  if (number === undefined || others.length === 0 || !taskset(others.join())) return undefined
  return { number, release: () => void taskset(cores.join()) }
}

/** Those that this process may use, from a list such as `0,2-3`. */
function allowedCores(): number[] {
  const list = /([\d,-]+)\s*$/.exec(taskset() ?? '')?.[1]
  return (list?.split(',') ?? []).flatMap((range) => {
    const [first = NaN, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

/**
 * @param list moves all threads of this process there
 * @returns what it prints; undefined: it is not there, or refuses
 */
function taskset(list?: string): string | undefined {
  const options = list === undefined ? ['-cp'] : ['-acp', list]
  const { status, stdout } = spawnSync('taskset', [...options, String(process.pid)], { encoding: 'utf8' })
  return status === 0 ? stdout : undefined
}
