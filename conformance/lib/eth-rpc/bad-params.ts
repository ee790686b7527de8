import type { ClauseId } from '../../../specs/index.ts'
import { clause, type ClauseSuite } from '../clause.ts'
import type { CheckContext } from '../context.ts'
import { Untestable } from '../outcome.ts'
import { expect } from '../expect.ts'
import { requireServed } from '../expect-rpc.ts'
import { isWithoutMeaning } from './priority-fee.ts'
import { serve } from './serve.ts'

type BadParamsClause = Extract<ClauseId, `eth-rpc.${string}.bad-params`>
/** A method that has a clause about bad parameters. */
export type BadParamsMethod = BadParamsClause extends `eth-rpc.${infer Method}.bad-params` ? Method : never

export interface BadParamsCase {
  /** The one fault, in the words of the check's title. */
  readonly fault: string
  /** Puts the fault into the parameters of the twin. What is no array is sent as it is. */
  readonly spoil: (good: readonly unknown[]) => unknown
  /** Another twin than the method's own. */
  readonly twin?: (t: CheckContext) => Promise<readonly unknown[]>
}

/** The clause about the bad parameters of a method: each case is sent after its twin, which differs by that one fault. */
export function badParams(
  method: BadParamsMethod,
  twin: (t: CheckContext) => Promise<readonly unknown[]>,
  cases: readonly BadParamsCase[],
): ClauseSuite {
  return clause(`eth-rpc.${method}.bad-params`, (check) => {
    for (const { fault, spoil, twin: own } of cases) {
      check(`${fault}: an error`, async (t) => {
        const good = await (own ?? twin)(t)
        if (await isWithoutMeaning(t, method)) throw new Untestable(`${method} has no meaning on this chain`)
        // Which fields a filter may have is not shown: a form of it that is refused breaks nothing, and shows nothing.
        if (method === 'eth_getLogs') requireServed(await t.rpc.call(method, good))
        else await serve(t, method, good)
        expect(await t.rpc.send({ id: 1, jsonrpc: '2.0', method, params: spoil(good) })).to.be.refused
      })
    }
  })
}

/** The cases of a method without parameters. */
export const unexpectedParams: readonly BadParamsCase[] = [
  { fault: 'a parameter too many', spoil: () => ['latest'] },
  { fault: 'an object instead of a list', spoil: () => ({ block: 'latest' }) },
  { fault: 'a string instead of a list', spoil: () => 'latest' },
]
