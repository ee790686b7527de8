import type { ClauseId } from '../../../specs/index.ts'
import { type CheckContext, clause, type ClauseSuite } from '../clause.ts'
import { expect, requireServed } from '../expect.ts'
import { Untestable } from '../outcome.ts'
import { isWithoutMeaning } from './prices.ts'
import { expectServed } from './serve.ts'

type BadParamsClause = Extract<ClauseId, `eth-rpc.${string}.bad-params`>
/** A method that has a clause about bad parameters. */
export type BadParamsMethod = BadParamsClause extends `eth-rpc.${infer Method}.bad-params` ? Method : never

export interface BadParamsCase {
  /** The fault, in the words of the check's title. */
  readonly fault: string
  /** Puts the fault into the parameters of the twin. A value that is no array is sent as it is. */
  readonly spoil: (good: readonly unknown[]) => unknown
  /** Makes the parameters of another twin than the method's own. */
  readonly twin?: (t: CheckContext) => Promise<readonly unknown[]>
}

/**
 * Defines the clause about the bad parameters of a method. Each check sends the twin first, which differs by one
 * fault alone.
 */
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
        // The document does not show the fields of a filter. So a target that refuses a form of the filter breaks no
        // sentence, and the check is untestable.
        if (method === 'eth_getLogs') requireServed(await t.rpc.call(method, good))
        else await expectServed(t, method, good)
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

/** The cases of a method whose one parameter is a hash of 32 bytes. */
export const hashFaults: readonly BadParamsCase[] = [
  { fault: 'no parameters', spoil: () => [] },
  { fault: 'a parameter too many', spoil: ([hash]) => [hash, 'latest'] },
  { fault: 'a hash of 31 bytes', spoil: ([hash]) => [String(hash).slice(0, -2)] },
  { fault: 'a hash of 33 bytes', spoil: ([hash]) => [`${String(hash)}00`] },
  { fault: 'a hash that is not hex', spoil: ([hash]) => [`${String(hash).slice(0, -1)}g`] },
  { fault: 'a number instead of a hash', spoil: () => [1] },
  { fault: 'null instead of a hash', spoil: () => [null] },
]
