import { encodeExecutePayload, isHash, type Hex, payloadOf, type Call, relayDigest } from './encoding.ts'
import { objectOf, post, type Fetch, type Patience, type Reply } from './post.ts'
import type { Endpoints } from './endpoint.ts'
import type { Channels, Place } from './channels.ts'
import type { Signer } from './controller.ts'
import { fateOf, type Profile, type Rpc } from './chain.ts'
import { isRelayError, messageOf, RelayError, remedyOf } from './relay-error.ts'

export interface ExecuteOptions {
  /** Calls with the same name are relayed one after the other, in the order of their `execute`. */
  readonly order?: string
  /** As above, with the number of a channel (LSP25), which stays the same when another client continues. */
  readonly channel?: bigint
  /** `start << 128 | end` in Unix seconds; absent: always valid. */
  readonly validityTimestamps?: bigint
  /** Stops waiting. A call that was sent before may still be executed. */
  readonly signal?: AbortSignal
}

export interface Execution {
  readonly transactionHash: Hex
  /** `transaction`: the relay refused the call, and `fallback` sent it. */
  readonly via: 'relay' | 'transaction'
}

/** A transaction with the effect of the relay call. The controller sends it and pays for it. */
export interface FallbackTransaction {
  readonly from: Hex
  /** The key manager. */
  readonly to: Hex
  readonly data: Hex
}

/** Sends a transaction. @returns its hash */
export type Fallback = (transaction: FallbackTransaction) => Promise<string>

export interface ExecuteContext {
  readonly relayAt: Endpoints
  readonly profile: Profile
  readonly signer: Signer
  readonly channels: Channels
  readonly rpc: Rpc
  readonly fetch: Fetch
  readonly patience: Patience
  readonly nonceForm: 'number' | 'string'
  readonly fallback?: Fallback | undefined
}

/** Makes one `POST /execute`, from the call to the hash of its transaction. Clause relay.execute.post. */
export function createExecute(context: ExecuteContext) {
  const { profile, channels, fallback, signer } = context
  return async (call: Call, options: ExecuteOptions = {}): Promise<Execution> => {
    const { order, channel } = options
    if (order !== undefined && channel !== undefined) throw new TypeError('give an order or a channel, not both')
    if (channel !== undefined && (channel < 0n || channel >> 128n !== 0n)) {
      throw new RangeError(`a channel has 128 bits: ${channel}`)
    }
    const payload = payloadOf(call, profile.address)
    const name = order ?? channel
    const place = await (name === undefined ? channels.free() : channels.inTurn(name))
    let next: bigint | undefined
    try {
      const { transactionHash, nonce } = await relay(context, payload, place, options)
      next = nonce + 1n
      return { transactionHash, via: 'relay' }
    } catch (error) {
      if (isRelayError(error, 'INVALID_SIGNATURE')) profile.forget()
      if (!fallback || !mayFallBack(error)) throw error
      const transaction = {
        from: await signer.address(),
        to: await profile.keyManager(),
        data: encodeExecutePayload(payload),
      }
      return { transactionHash: checkedHash(await fallback(transaction)), via: 'transaction' }
    } finally {
      place.release(next)
    }
  }
}

/** Not after a revert: a transaction of the controller would revert as well. */
const mayFallBack = (error: unknown) =>
  isRelayError(error) && error.broadcast === false && error.code !== 'RELAY_CALL_REVERTS'

/**
 * Relays the payload. When the relay refuses the nonce and sent nothing, the call is signed once more with the expected
 * nonce.
 */
async function relay(context: ExecuteContext, payload: Hex, place: Place, options: ExecuteOptions) {
  const { fetch, patience } = context
  let { nonce } = place
  for (let isFirst = true; ; isFirst = false) {
    const { body, signature } = await sign(context, payload, nonce, options.validityTimestamps ?? 0n)
    const reply = await post(context.relayAt('/execute'), { ...patience, fetch, body, signal: options.signal })
    const transactionHash = hashOf(reply)
    if (transactionHash) return { transactionHash, nonce }
    if (reply.isLost || !isRelayError(reply.error)) return await resolve(context, { reply, nonce, body, signature })
    const expected = isFirst ? await expectedNonce(context, reply.error, place.channel) : undefined
    if (expected === undefined || expected === nonce) throw reply.error
    nonce = expected
  }
}

/** Asks the chain what became of a call without an answer. @throws RelayError the relay's refusal, or ANSWER_LOST */
async function resolve(
  { profile, signer, rpc }: ExecuteContext,
  { reply, nonce, body, signature }: { reply: Reply; nonce: bigint; body: string; signature: Hex },
) {
  const { isExecuted, transactionHash } = await fateOf(rpc, profile, await signer.address(), { nonce, signature })
  if (transactionHash) return { transactionHash, nonce }
  const fate = {
    true: 'was most likely executed',
    false: 'is not executed so far',
    undefined: 'may have been executed',
  }[`${isExecuted}`]
  const cause = reply.error
  // The relay knows its calls by their signature. A call that it refuses for good, it has not accepted before.
  if (isExecuted === false && isRelayError(cause) && isForGood(cause)) throw withoutWord(cause)
  const reason = cause ? messageOf(cause) : `the relay answers ${reply.answer?.status} without a transactionHash`
  throw new RelayError('ANSWER_LOST', `no answer says what became of the call, which ${fate}: ${reason}`, {
    details: { isExecuted, nonce, body },
    status: reply.answer?.status,
    cause,
  })
}

const isForGood = ({ code, status = 0, broadcast }: RelayError) =>
  remedyOf(code) === 'none' && status < 500 && broadcast === false

/**
 * The error without `broadcast`: a relay other than the reference server may have sent the call at an earlier attempt,
 * and this answer speaks of the last one only.
 */
const withoutWord = ({ code, message, details, status }: RelayError) =>
  new RelayError(code, message, { details, status })

function hashOf({ answer, error }: Reply): Hex | undefined {
  const hash = answer && !error ? objectOf(answer.text)?.['transactionHash'] : undefined
  return isHash(hash) ? hash : undefined
}

/**
 * The nonce to use instead: as the relay says, which knows of calls that are not mined, or as the chain says. Undefined
 * when another nonce does not help.
 */
async function expectedNonce(
  { profile, signer }: ExecuteContext,
  error: RelayError,
  channel: bigint,
): Promise<bigint | undefined> {
  if (remedyOf(error.code) !== 'nonce' || error.broadcast !== false) return
  const { expectedNonce: told } = error.details as { expectedNonce?: unknown }
  const expected = typeof told === 'string' && /^\d{1,78}$/.test(told) ? BigInt(told) : undefined
  return expected !== undefined && expected >> 128n === channel
    ? expected
    : profile.nonce(await signer.address(), channel)
}

/** The body of `POST /execute` (LSP15). The nonce has all of its digits. */
async function sign(
  { profile, signer, nonceForm }: ExecuteContext,
  payload: Hex,
  nonce: bigint,
  validityTimestamps: bigint,
) {
  const [keyManager, chainId] = await Promise.all([profile.keyManager(), profile.chainId()])
  const signature = await signer.signDigest(relayDigest({ keyManager, chainId, nonce, validityTimestamps, payload }))
  const validity = validityTimestamps === 0n ? '' : `,"validityTimestamps":"0x${validityTimestamps.toString(16)}"`
  const digits = nonceForm === 'string' ? `"${nonce}"` : String(nonce)
  const transaction = `{"abi":"${payload}","signature":"${signature}","nonce":${digits}${validity}}`
  return { signature, body: `{"address":"${profile.address}","transaction":${transaction}}` }
}

function checkedHash(hash: unknown): Hex {
  if (isHash(hash)) return hash
  throw new TypeError(`fallback answers no transaction hash: ${String(hash)}`)
}
