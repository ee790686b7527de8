/** A block by number (quantity in any letter case, or a JSON integer) or by tag. */
export type BlockParam = string | number

/** A block number in any of its spellings; undefined for a tag. */
export function numberOf(block: BlockParam): number | undefined {
  if (typeof block === 'number') return block
  return block.startsWith('0x') ? Number(block) : undefined
}
