/** A figure with what it should be. */
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
 * Prints what has become of each aim.
 *
 * @returns the exit code: 0 every one is met, 1 one is missed
 */
export function judgeAims(aims: readonly Aim[]): 0 | 1 {
  console.log(`\n${aims.map(describeAim).join('\n')}`)
  return aims.every(isMet) ? 0 : 1
}
