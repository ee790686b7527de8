import type { ClauseId } from '../../../specs/index.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import { NumberLiteral } from '../../lib/lossless-json.ts'
import { withTransaction, type RelayCall } from '../../lib/relay/call.ts'
import { expectTwin } from '../../lib/relay/first-execution.ts'
import { expectNotExecuted } from '../../lib/relay/not-executed.ts'

const needs = ['fixture', 'spend'] as const

/** A value of another type or form, made from the right value. */
type Variant = readonly [what: string, value: (hex: string) => unknown]

// The first variants are those that a lenient reader may take for the right value, and execute.
const noHexStrings: readonly Variant[] = [
  ['an array that holds it', (hex) => [hex]],
  ['an object', () => ({})],
  ['a number', () => 12345],
  ['a boolean', () => true],
  ['null', () => null],
  ['an empty string', () => ''],
  ['a string with letters that are no hex digits', (hex) => `${hex.slice(0, -2)}zz`],
]

/** Sends a valid call, once for each clause, and then one with a field in another form. */
async function expectNoHash(
  t: CheckContext,
  of: ClauseId,
  what: string,
  put: (call: RelayCall) => unknown,
): Promise<void> {
  await t.once(`${of} twin`, expectTwin)
  await expectNotExecuted(t, { of, what, hasNoHash: true, alter: (call) => ({ body: put(call) }) })
}

/** Defines one check for each variant. */
function hexField(
  id: ClauseId,
  field: string,
  variants: readonly Variant[],
  put: (call: RelayCall, value: (hex: string) => unknown) => unknown,
) {
  return clause(id, (check) => {
    for (const [what, value] of variants) {
      check(`${what} gets no transactionHash`, { needs }, (t) =>
        expectNoHash(t, id, `${what} as ${field}`, (call) => put(call, value)),
      )
    }
  })
}

const noIntegers: readonly (readonly [what: string, value: (nonce: bigint) => unknown])[] = [
  ['an array that holds it', (nonce) => [nonce]],
  ['a fraction', (nonce) => new NumberLiteral(`${nonce}.5`)],
  ['a boolean', (nonce) => nonce !== 0n],
  ['words', () => 'the next one'],
  ['an empty string', () => ''],
  ['an object', () => ({})],
  ['null', () => null],
  ['a negative number', () => -1],
]

export default [
  hexField(
    'relay.execute.address-hex',
    'address',
    [...noHexStrings, ['19 bytes', (hex) => hex.slice(0, -2)], ['21 bytes', (hex) => `${hex}00`]],
    ({ body }, value) => ({ ...body, address: value(body.address) }),
  ),
  hexField('relay.execute.abi-hex', 'transaction.abi', noHexStrings, ({ body }, value) =>
    withTransaction(body, { abi: value(body.transaction.abi) }),
  ),
  hexField('relay.execute.signature-hex', 'transaction.signature', noHexStrings, ({ body }, value) =>
    withTransaction(body, { signature: value(body.transaction.signature) }),
  ),

  clause('relay.execute.nonce-integer', (check) => {
    for (const [what, value] of noIntegers) {
      // The nonce is of channel 0, for which the check needs the chain. A lenient reader would lose digits of a random
      // channel.
      check(`${what} gets no transactionHash`, { needs: ['chain', ...needs] }, (t) =>
        expectNoHash(t, 'relay.execute.nonce-integer', `${what} as transaction.nonce`, ({ body }) =>
          withTransaction(body, { nonce: value(body.transaction.nonce) }),
        ),
      )
    }
  }),
]
