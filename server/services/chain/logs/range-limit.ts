/** The most blocks of any call. */
export const LARGEST_SPAN = 100_000
/**
 * After so many calls at the limit, twice as many blocks are tried: another node may stand behind the URL by now, or the
 * operator may have another plan.
 */
const FIRST_PATIENCE = 16
const LAST_PATIENCE = 1024
/** The same number while the limit grows. */
const GROWING_PATIENCE = 2
/** When the refused span is at most so many times the served one, nothing between them is tried. */
const NEAR = 1.125

/**
 * Finds the most blocks that a node takes in a call. When a refusal names a number, that is the limit. Otherwise it is
 * searched by halves between the largest span that was served and the smallest one that was refused.
 */
export class RangeLimit {
  #blocks = LARGEST_SPAN
  #isTold = false
  #served = 0
  #refused = Infinity
  #patience = FIRST_PATIENCE
  #callsAtLimit = 0
  /** The limit before twice as many blocks were tried. */
  #before: { readonly blocks: number; readonly refused: number } | undefined

  /** The most blocks to ask for. */
  get blocks(): number {
    return this.#blocks
  }

  /** @param told the number of blocks that the node says it takes */
  refused(span: number, told?: number): void {
    const before = this.#before
    if (before && span > before.blocks && (told ?? 0) <= before.blocks) {
      this.#before = undefined
      this.#blocks = before.blocks
      this.#refused = Math.min(before.refused, span)
      this.#patience = Math.min(LAST_PATIENCE, 2 * this.#patience)
      return
    }
    // This call was sent before the limit was known.
    if (span >= this.#refused && told === undefined) return
    this.#before = undefined
    if (this.#served >= span) this.#served = 0
    this.#refused = span
    this.#isTold = told !== undefined && told < span
    this.#callsAtLimit = 0
    if (told !== undefined && told < span) this.#blocks = Math.max(1, told)
    else this.#blocks = Math.max(1, Math.floor(this.#served > span / 4 ? (this.#served + span) / 2 : span / 2))
  }

  served(span: number): void {
    this.#served = Math.max(this.#served, span)
    if (span >= this.#refused) this.#refused = Infinity
    if (span < this.#blocks || this.#blocks >= LARGEST_SPAN) return
    if (this.#before) {
      this.#before = undefined
      this.#isTold = false
      this.#patience = GROWING_PATIENCE
    }
    if (!this.#isTold && this.#refused < Infinity && this.#refused / this.#served > NEAR) {
      this.#blocks = Math.floor((this.#served + this.#refused) / 2)
      return
    }
    if (++this.#callsAtLimit < this.#patience) return
    this.#callsAtLimit = 0
    this.#before = { blocks: this.#blocks, refused: this.#refused }
    this.#blocks = Math.min(LARGEST_SPAN, 2 * this.#blocks)
    this.#refused = Infinity
  }
}
