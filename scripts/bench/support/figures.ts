import { readFile } from 'node:fs/promises'

/** A measured figure with its bounds. */
export interface Aim {
  readonly name: string
  readonly value: number
  readonly atLeast?: number
  readonly atMost?: number
}

function isMet({ value, atLeast = -Infinity, atMost = Infinity }: Aim): boolean {
  return value >= atLeast && value <= atMost
}

function describeAim(aim: Aim): string {
  const bound = aim.atLeast === undefined ? `at most ${aim.atMost}` : `at least ${aim.atLeast}`
  return `${isMet(aim) ? 'met   ' : 'MISSED'} ${aim.name}: ${aim.value.toFixed(2)} (${bound})`
}

/**
 * Prints whether each aim is met.
 *
 * @returns the exit code: 0 every one is met, 1 one is missed
 */
export function judgeAims(aims: readonly Aim[]): 0 | 1 {
  console.log(`\n${aims.map(describeAim).join('\n')}`)
  return aims.every(isMet) ? 0 : 1
}

/** Memory of a process that is in RAM, in MiB (Linux). */
export async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? NaN) / 1024
}

/** The middle value. Of two middle values, the greater one. */
export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? NaN
}

/** The value below which this share of the values lies. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}
