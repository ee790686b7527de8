import type { ClauseId } from '../../../specs/index.ts'
import { clause } from '../../lib/clause.ts'
import { NumberLiteral } from '../../lib/lossless-json.ts'
import { signCall, withTransaction, type RelayCall } from '../../lib/relay/call.ts'
import { execute, executeTwin } from '../../lib/relay/execute.ts'
import { channelZeroNonce, twinInChannelZero, freshCall } from '../../lib/relay/first-execution.ts'
import { expectNoHash } from '../../lib/relay/no-hash.ts'

const needs = ['fixture', 'spend'] as const

/** A value of another type or form, made of the right one. */
type Variant = readonly [what: string, value: (hex: string) => unknown]

// What a lenient reader may still take for the right value comes first: that is where a wrong type would be executed.
const noHexStrings: readonly Variant[] = [
  ['an array that holds it', (hex) => [hex]],
  ['an object', () => ({})],
  ['a number', () => 12345],
  ['a boolean', () => true],
  ['null', () => null],
  ['an empty string', () => ''],
  ['a string with letters that are no hex digits', (hex) => `${hex.slice(0, -2)}zz`],
]

/** One check per variant; the accepted twin is sent once for the clause. */
function hexField(
  id: ClauseId,
  field: string,
  variants: readonly Variant[],
  put: (call: RelayCall, value: (hex: string) => unknown) => unknown,
) {
  return clause(id, (check) => {
    for (const [what, value] of variants) {
      check(`${what} gets no transactionHash`, { needs }, async (t) => {
        await t.once(`${id} twin`, async (once) => executeTwin(once, await freshCall(once)))
        expectNoHash(t, await execute(t, put(await freshCall(t), value)), `${what} as ${field}`)
      })
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
      check(`${what} gets no transactionHash`, { needs: ['chain', ...needs] }, async (t) => {
        // In channel 0: of a number of 128 bits a lenient reader would lose digits.
        await t.once('relay.execute.nonce-integer twin', twinInChannelZero)
        const call = signCall(t, { nonce: await channelZeroNonce(t) })
        const nonce = value(call.message.nonce)
        expectNoHash(t, await execute(t, withTransaction(call.body, { nonce })), `${what} as transaction.nonce`)
      })
    }
  }),
]
