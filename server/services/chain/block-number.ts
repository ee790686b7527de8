import type { BlockParam } from '../../../specs/index.ts'

/** A block number in any of its spellings; undefined for a tag. */
export function numberOf(block: BlockParam): number | undefined {
  if (typeof block === 'number') return block
  return block.startsWith('0x') ? Number(block) : undefined
}
