import { numberOf, quantity } from './eth-rpc/values.ts'
import { Untestable } from './outcome.ts'
import { delay } from './world.ts'

/** What a node answers. */
export type Outcome =
  | { readonly result: unknown }
  | { readonly error: { readonly message: string; readonly data?: unknown } }

/** Asks a node. @throws Untestable when it does not answer */
export type Attempt = (method: string, params?: readonly unknown[]) => Promise<Outcome>

/** By method, the place of the parameter that names a block. */
const blockAt: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_getBalance: 1,
  eth_getBlockByNumber: 0,
  eth_getCode: 1,
  eth_getStorageAt: 2,
  eth_getTransactionCount: 1,
}
/** Methods that tell of a transaction by its hash. */
const lookUps: readonly string[] = ['eth_getTransactionByHash', 'eth_getTransactionReceipt']
/** How nodes say that they do not have a block, or not yet. */
const unknownBlock =
  /(?:unknown|missing) (?:block|header)|(?:block|header)[^.]{0,40}(?:not found|not available)|could not find block|(?:beyond|past|after) (?:the )?(?:current |latest )?(?:head|block)|after last accepted|in the future|still syncing/i

/** The pause before a question is asked again. Each further pause is twice as long. */
const firstPauseMs = 100
/** A question is asked again so many times: within some 13 seconds. */
const mostRepeats = 7

/**
 * The same node, whose answers never go back behind what it has shown. Behind the URL of a public node stand several, of which
 * some are a few blocks late: one shows a receipt, and the next one the state before it. So the latest state is read at the
 * number of a head that is no older than any block that was shown, and what a late node lacks is asked again.
 *
 * Logs of the youngest blocks may still be missing: a late node leaves them out and does not say so.
 *
 * @returns also throws Untestable, when the head stays behind a block that was shown
 */
export function steadyNode(attempt: Attempt): Attempt {
  /** The highest block that was shown. */
  let mark = 0n
  /** Transactions whose block was shown, by hash. */
  const mined = new Set<string>()

  function note(shown: bigint | undefined): void {
    if (shown !== undefined && shown > mark) mark = shown
  }

  /** @returns the last outcome when none is good enough */
  async function repeat(
    method: string,
    params: readonly unknown[],
    isEnough: (outcome: Outcome) => boolean,
  ): Promise<Outcome> {
    for (let repeats = 0; ; repeats++) {
      const outcome = await attempt(method, params)
      if (repeats === mostRepeats || isEnough(outcome)) return outcome
      await delay(firstPauseMs * 2 ** repeats)
    }
  }

  async function askHead(): Promise<Outcome> {
    const outcome = await repeat('eth_blockNumber', [], (told) => (numberOf(resultOf(told)) ?? mark) >= mark)
    const head = numberOf(resultOf(outcome))
    if (head !== undefined && head < mark) {
      const shown = mark
      mark = head
      throw new Untestable(`the chain's node has shown block ${shown}, and is at block ${head}`)
    }
    note(head)
    return outcome
  }

  async function askAtBlock(method: string, params: readonly unknown[], at: number): Promise<Outcome> {
    const head = params[at] === 'latest' ? numberOf(resultOf(await askHead())) : undefined
    const atBlock = head === undefined ? params : params.with(at, quantity(head))
    const block = numberOf(atBlock[at])
    if (block === undefined) return attempt(method, atBlock)
    if (block > mark) {
      const outcome = await attempt(method, atBlock)
      if ((resultOf(outcome) ?? null) !== null) note(block)
      return outcome
    }
    return repeat(method, atBlock, (outcome) =>
      'error' in outcome ? !lacksBlock(outcome.error.message) : outcome.result !== null,
    )
  }

  async function look(method: string, hash: unknown): Promise<Outcome> {
    const outcome = mined.has(String(hash))
      ? await repeat(method, [hash], (told) => blockOf(told) !== undefined)
      : await attempt(method, [hash])
    const block = blockOf(outcome)
    if (block !== undefined) mined.add(String(hash))
    note(block)
    return outcome
  }

  return async (method, params = []) => {
    if (method === 'eth_blockNumber') return askHead()
    if (lookUps.includes(method)) return look(method, params[0])
    const at = blockAt[method]
    return at === undefined ? attempt(method, params) : askAtBlock(method, params, at)
  }
}

/** Whether the words are a node's own, and not the reason of a contract that reverts. */
const lacksBlock = (message: string) => unknownBlock.test(message) && !/revert/i.test(message)

function resultOf(outcome: Outcome): unknown {
  return 'result' in outcome ? outcome.result : undefined
}

/** The number of the block in which a transaction is, by the answer about it. */
function blockOf(outcome: Outcome): bigint | undefined {
  const result = resultOf(outcome) as { blockNumber?: unknown } | null | undefined
  return numberOf(result?.blockNumber)
}
