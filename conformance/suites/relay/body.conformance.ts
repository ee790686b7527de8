import { toBeHex } from 'ethers'
import type { ClauseId } from '../../../specs/index.ts'
import { type CheckContext, clause, type DefineCheck } from '../../lib/clause.ts'
import { NumberLiteral } from '../../lib/lossless-json.ts'
import { inTurn, type ValidOptions } from '../../lib/relay/attempt.ts'
import { type RelayCall, relayForm, signCall, withTransaction } from '../../lib/relay/call.ts'
import { expectNotExecuted, expectOwnExecution, expectTwin, firstExecution } from '../../lib/relay/executions.ts'

const needs = ['fixture', 'spend'] as const

/** Sends a valid call, then the next one without a field. The target must not take the field from the call before. */
function requires(id: ClauseId, field: string, without: (call: RelayCall) => unknown) {
  return clause(id, (check) => {
    check(`without ${field} there is no transactionHash`, { needs }, (t) =>
      inTurn(t, async () => {
        await expectTwin(t)
        const what = `a body without ${field}`
        await expectNotExecuted(t, { of: id, what, hasNoHash: true, alter: (call) => ({ body: without(call) }) })
      }),
    )
  })
}

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
  more: (check: DefineCheck) => void = () => {},
) {
  return clause(id, (check) => {
    more(check)
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

const hourSeconds = 3600n

/** The chain's time in Unix seconds, with which the key manager compares. */
async function chainTime(t: CheckContext): Promise<bigint> {
  const { timestamp } = (await t.chain.send('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
  return BigInt(timestamp)
}

/**
 * The number `start << 128
 * end`, and its text in the body.
 */
function windowOf(start: bigint, end: bigint) {
  const validityTimestamps = (start << 128n) | end
  return { validityTimestamps, validityText: toBeHex(validityTimestamps, 32) }
}

async function expectTaken(t: CheckContext, options: ValidOptions): Promise<void> {
  await expectOwnExecution(t, 'relay.execute.validity-timestamps', options)
}

export default [
  requires('relay.execute.requires-address', 'address', ({ body }) => ({ transaction: body.transaction })),
  requires('relay.execute.requires-transaction', 'transaction', ({ body }) => ({ address: body.address })),
  requires('relay.execute.requires-abi', 'transaction.abi', ({ body }) => withTransaction(body, { abi: undefined })),
  requires('relay.execute.requires-signature', 'transaction.signature', ({ body }) =>
    withTransaction(body, { signature: undefined }),
  ),
  // The nonce is of channel 0. A target that reads the missing nonce from the chain would then find the right one.
  requires('relay.execute.requires-nonce', 'transaction.nonce', ({ body }) =>
    withTransaction(body, { nonce: undefined }),
  ),

  hexField(
    'relay.execute.address-hex',
    'address',
    [...noHexStrings, ['19 bytes', (hex) => hex.slice(0, -2)], ['21 bytes', (hex) => `${hex}00`]],
    ({ body }, value) => ({ ...body, address: value(body.address) }),
    (check) =>
      check('an address in lower case is taken', { needs }, async (t) => {
        const address = t.fixture.profile.address.toLowerCase()
        await expectOwnExecution(t, 'relay.execute.address-hex', { address })
      }),
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

  clause('relay.execute.validity-timestamps', (check) => {
    check('left out', async (t) => {
      const first = await firstExecution(t)
      // The clause on the body judges a target that insists on them.
      if ((await relayForm(t)).validityText !== undefined && first.faults[0]) throw first.faults[0]
      await expectTaken(t, {})
    })

    check('"0x0"', (t) => expectTaken(t, { validityText: '0x0' }))

    check('32 bytes of hex: zero', (t) => expectTaken(t, { validityText: toBeHex(0, 32) }))

    check('32 bytes of hex: a window that is open', async (t) => {
      const now = await chainTime(t)
      await expectTaken(t, windowOf(now - hourSeconds, now + hourSeconds))
    })

    check('a window that is over executes nothing', async (t) => {
      const now = await chainTime(t)
      await expectTaken(t, windowOf(now - 2n * hourSeconds, now + hourSeconds))
      await expectNotExecuted(t, {
        of: 'relay.execute.validity-timestamps',
        what: 'a window that is over',
        alter({ message: { nonce } }) {
          const late = signCall(t, { nonce, ...windowOf(now - 2n * hourSeconds, now - hourSeconds) })
          return { body: late.body, otherKeys: [late.key] }
        },
      })
    })
  }),
]
