/** A figure with what it should be. */
export interface Aim {
  readonly name: string
  readonly value: number
  readonly atLeast?: number
  readonly atMost?: number
}

export function isMet({ value, atLeast = -Infinity, atMost = Infinity }: Aim): boolean {
  return value >= atLeast && value <= atMost
}

export function describeAim(aim: Aim): string {
  const bound = aim.atLeast === undefined ? `at most ${aim.atMost}` : `at least ${aim.atLeast}`
  return `${isMet(aim) ? 'met   ' : 'MISSED'} ${aim.name}: ${aim.value.toFixed(2)} (${bound})`
}
