import { AssertionError, type Assertion as AssertionStatic, type util } from 'chai'
import type { ClauseId } from '../../specs/index.ts'
import { type Answer, describeAnswer, errorCodeOf, hasResult, isServed, memberOf, objectOf } from './answer.ts'
import { connectChain } from './chain-truth.ts'
import { Fault, type FaultDetails, showValue } from './outcome.ts'
import { faultsOf, hashIn, isAccepted, normalHash, tellsQuota } from './relay/answers.ts'
import { poll, type Receipt } from './relay/receipt.ts'
import { violations } from './schema.ts'

declare global {
  // oxlint-disable-next-line typescript/no-namespace -- chai's plugins declare here what they add
  namespace Chai {
    interface Assertion {
      /** A JSON-RPC answer: a status of success with a result and no error. */
      readonly served: Assertion
      /** An answer of any endpoint without a result: a status of the 4xx, or an error with a status below 500. */
      readonly refused: Assertion
      /** An answer of `POST /execute`: a status of success and the hash of a transaction. */
      readonly accepted: Assertion
      /** A served JSON-RPC answer with this result. */
      result(expected: unknown): Assertion
      /** A JSON-RPC answer with an error object of this code. */
      rpcErrorCode(code: number): Assertion
      /** An answer of `POST /quota`: an amount, and members of the types that the document gives them. */
      tellQuota(): Assertion
      /**
       * The value fits one of Touchstone's schemas.
       *
       * @param reference path and pointer: `rpc-method/eth_chainId#/properties/result`
       */
      fit(reference: string): Assertion
      /**
       * The answer is accepted, and its transaction is mined and succeeds. The assertion must be awaited.
       *
       * @param options `timeoutMs`: how long to wait until the transaction is mined; absent: 60,000
       */
      execute(options: { readonly rpcUrl: string; readonly timeoutMs?: number }): Promise<void>
      /** Names the answer that shows what is asserted. Reports show this answer first. */
      shownBy(answer: Answer): Assertion
      /** Names the clause that a failure contradicts; absent: the clause that is being checked. */
      against(clause: ClauseId): Assertion
    }
  }
}

/** chai's `expect`. Whoever names this type has what is declared above. */
export type RelayExpect = Chai.ExpectStatic

/** What an assertion about an answer found. */
type Judgement = FaultDetails & {
  readonly holds: boolean
  /** The message when the assertion fails. */
  readonly fault: string
  /** The message when the negated assertion fails. */
  readonly unexpected: string
}

/** Assertions without an argument. */
const properties: Readonly<Record<'served' | 'refused' | 'accepted', (answer: Answer) => Judgement>> = {
  served: (answer) => ({
    holds: isServed(answer),
    fault: 'the request was not served',
    unexpected: 'the request was served',
    expected: 'a status of success with a result and no error',
    actual: describeAnswer(answer),
    answer,
  }),
  refused(answer) {
    const fault = whyNotRefused(answer)
    return {
      holds: fault === undefined,
      fault: fault ?? '',
      unexpected: 'the request was refused',
      expected: 'an error and no result, below HTTP 500',
      actual: describeAnswer(answer),
      answer,
    }
  },
  accepted: (answer) => ({
    holds: isAccepted(answer),
    fault: 'the call was not accepted',
    unexpected: 'the call was accepted',
    expected: 'a status of success and a transactionHash of 32 bytes',
    actual: describeAnswer(answer),
    answer,
  }),
}

function findResult(answer: Answer, expected: unknown): Judgement {
  const shown = String(JSON.stringify(expected))
  return {
    holds: isServed(answer) && memberOf(answer, 'result') === expected,
    fault: `the result is not ${shown}`,
    unexpected: `the result is ${shown}`,
    expected: `the result ${shown}`,
    actual: describeAnswer(answer),
    answer,
  }
}

function findErrorCode(answer: Answer, code: number): Judgement {
  return {
    holds: errorCodeOf(answer) === code,
    fault: 'the error has another code',
    unexpected: `the error code is ${code}`,
    expected: String(code),
    actual: describeAnswer(answer),
    answer,
  }
}

function findQuota(answer: Answer): Judgement {
  return {
    holds: tellsQuota(answer),
    fault: 'the answer tells no quota',
    unexpected: 'a quota was told',
    expected: 'a status of success and an object with quota',
    actual: describeAnswer(answer),
    answer,
  }
}

function findFit(value: unknown, reference: string): Judgement {
  const found = violations(value, reference)
  return {
    holds: found.length === 0,
    fault: `does not match the schema: ${found.slice(0, 5).join('; ')}`,
    unexpected: `matches the schema ${reference}`,
    expected: `a value by specs/schemas/${reference}`,
    actual: JSON.stringify(value)?.slice(0, 500) ?? 'undefined',
  }
}

interface ExecuteOptions {
  readonly rpcUrl: string
  readonly timeoutMs?: number
}

async function findExecution(answer: Answer, options: ExecuteOptions): Promise<Judgement> {
  const hash = isAccepted(answer) ? normalHash(String(hashIn(answer))) : undefined
  const receipt = hash === undefined ? undefined : await awaitReceipt(hash, options)
  return {
    holds: receipt?.status === '0x1',
    fault: 'the call was not executed',
    unexpected: 'the call was executed',
    expected: 'a transaction that is mined and succeeds',
    actual:
      hash === undefined ? describeAnswer(answer) : receipt ? `${hash} reverted` : `${hash} was not mined in time`,
    answer,
  }
}

/**
 * A chai plugin: assertions about the answers of a transaction relay service. A failed assertion throws a `Fault`,
 * which is an `AssertionError`.
 *
 * @example
 * use(relayAssertions)
 * expect(await readAnswer(await fetch(`${relayUrl}/execute`, request))).to.be.accepted
 */
export function relayAssertions(
  { Assertion }: { readonly Assertion: typeof AssertionStatic },
  { flag }: typeof util,
): void {
  function judge(assertion: object, { holds, fault, unexpected, ...details }: Judgement): void {
    const isNegated = flag(assertion, 'negate') === true
    if (holds !== isNegated) return
    const about = flag(assertion, 'message') as string | undefined
    const text = holds ? unexpected : fault
    throw new Fault(about === undefined ? text : `${about}: ${text}`, { ...details, ...shownOn(assertion) })
  }

  /** The answer and the clause that `shownBy` and `against` named. */
  function shownOn(assertion: object): Pick<FaultDetails, 'answer' | 'of'> {
    const answer = flag(assertion, 'answer') as Answer | undefined
    const of = flag(assertion, 'clause') as ClauseId | undefined
    return { ...(answer && { answer }), ...(of && { of }) }
  }

  for (const [name, find] of Object.entries(properties)) {
    Assertion.addProperty(name, function () {
      judge(this, find(this._obj as Answer))
    })
  }
  Assertion.addMethod('result', function (expected: unknown) {
    judge(this, findResult(this._obj as Answer, expected))
  })
  Assertion.addMethod('rpcErrorCode', function (code: number) {
    judge(this, findErrorCode(this._obj as Answer, code))
  })
  Assertion.addMethod('tellQuota', function () {
    const answer = this._obj as Answer
    const [wrong] = tellsQuota(answer) ? faultsOf(answer) : []
    if (wrong && flag(this, 'negate') !== true) throw wrong
    judge(this, findQuota(answer))
  })
  Assertion.addMethod('fit', function (reference: string) {
    judge(this, findFit(this._obj as unknown, reference))
  })
  Assertion.addMethod('execute', async function (options: ExecuteOptions) {
    judge(this, await findExecution(this._obj as Answer, options))
  })
  Assertion.addChainableMethod('shownBy', function (answer: Answer) {
    flag(this, 'answer', answer)
  })
  Assertion.addChainableMethod('against', function (clause: ClauseId) {
    flag(this, 'clause', clause)
  })
  alsoShow(Assertion.prototype as { assert: Assert }, shownOn)
}

type Assert = (this: object, ...args: unknown[]) => void

/** Makes the assertions of chai itself throw a `Fault` where the test names an answer or a clause. */
function alsoShow(
  prototype: { assert: Assert },
  shownOn: (assertion: object) => Pick<FaultDetails, 'answer' | 'of'>,
): void {
  const { assert } = prototype
  prototype.assert = function (...args) {
    try {
      assert.apply(this, args)
    } catch (error) {
      const shown = shownOn(this)
      if (!(error instanceof AssertionError) || Object.keys(shown).length === 0) throw error
      const { expected, actual } = error as { expected?: unknown; actual?: unknown }
      throw new Fault(error.message, { expected: showValue(expected), actual: showValue(actual), ...shown })
    }
  }
}

/**
 * Why the answer is no refusal; undefined when it is one. A status of the 4xx is a refusal, and so is an error with
 * any status below 500.
 */
function whyNotRefused(answer: Answer): string | undefined {
  const { status } = answer
  if (status === undefined) return 'there is no answer'
  if (status >= 500) return 'the answer is a server error'
  if (hasResult(answer)) return 'the answer has a result'
  const error = objectOf(answer)?.['error'] ?? null
  return error === null && status < 400 ? 'the answer has no error' : undefined
}

async function awaitReceipt(
  hash: string,
  { rpcUrl, timeoutMs = 60_000 }: ExecuteOptions,
): Promise<Receipt | undefined> {
  const chain = await connectChain(rpcUrl)
  return poll(() => chain.send('eth_getTransactionReceipt', [hash]) as Promise<Receipt | null>, timeoutMs)
}
