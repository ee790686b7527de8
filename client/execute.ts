import {
  encodeExecutePayload,
  encodeExecuteRelayCall,
  isHash,
  type Hex,
  payloadOf,
  type Call,
  relayDigest,
  type RelayMessage,
} from './encoding.ts'
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
  readonly channel?: bigint | number
  /** `start << 128 | end` in Unix seconds; absent: always valid. */
  readonly validityTimestamps?: bigint
  /** Stops waiting. A call that was sent before may still be executed. */
  readonly signal?: AbortSignal
}

export interface Execution {
  readonly transactionHash: Hex
  /** `transaction`: the relay refused the call or did not answer, and `fallback` sent it. */
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
  const { profile, channels, fallback } = context
  return async (call: Call, options: ExecuteOptions = {}): Promise<Execution> => {
    const { order } = options
    const channel = options.channel === undefined ? undefined : BigInt(options.channel)
    if (order !== undefined && channel !== undefined) throw new TypeError('give an order or a channel, not both')
    if (channel !== undefined && (channel < 0n || channel >> 128n !== 0n)) {
      throw new RangeError(`a channel has 128 bits: ${channel}`)
    }
    const payload = payloadOf(call, profile.address)
    const name = order ?? channel
    const place = await (name === undefined ? channels.free() : channels.inTurn(name))
    let signed: SignedCall | undefined
    const signWith = async (nonce: bigint) => (signed = await sign(context, payload, nonce, options.validityTimestamps))
    let next: bigint | undefined
    try {
      const { transactionHash, nonce } = await relay(context, place, signWith, options.signal)
      next = nonce + 1n
      return { transactionHash, via: 'relay' }
    } catch (error) {
      if (isRelayError(error, 'INVALID_SIGNATURE')) profile.forget()
      // After a revert, a transaction of the controller would revert as well.
      if (!fallback || !isRelayError(error) || error.code === 'RELAY_CALL_REVERTS') throw error
      if (error.broadcast === false) {
        const transactionHash = await send(context, fallback, encodeExecutePayload(payload))
        return { transactionHash, via: 'transaction' }
      }
      if (!signed || !mayBeUnsent(error)) throw error
      const execution = await relayItself(context, fallback, signed)
      next = signed.nonce + 1n
      return execution
    } finally {
      place.release(next)
    }
  }
}

const mayBeUnsent = (error: RelayError) =>
  isRelayError(error, 'ANSWER_LOST') && error.details.isExecuted !== true && error.broadcast !== true

/**
 * Sends a relay call that the relay may have sent as well. Its nonce is used once, whoever comes first.
 *
 * @throws what the fallback throws, unless the relay has executed the call meanwhile
 */
async function relayItself(context: ExecuteContext, fallback: Fallback, signed: SignedCall): Promise<Execution> {
  try {
    const data = encodeExecuteRelayCall(signed, signed.signature)
    return { transactionHash: await send(context, fallback, data), via: 'transaction' }
  } catch (error) {
    const { transactionHash } = await fate(context, signed)
    if (!transactionHash) throw error
    return { transactionHash, via: 'relay' }
  }
}

async function send({ profile, signer }: ExecuteContext, fallback: Fallback, data: Hex): Promise<Hex> {
  const hash = await fallback({ from: await signer.address(), to: await profile.keyManager(), data })
  if (isHash(hash)) return hash
  throw new TypeError(`fallback answers no transaction hash: ${String(hash)}`)
}

/**
 * Relays a call. When the relay refuses the nonce and sent nothing, the call is signed once more with the expected
 * nonce.
 */
async function relay(
  context: ExecuteContext,
  place: Place,
  signWith: (nonce: bigint) => Promise<SignedCall>,
  signal: AbortSignal | undefined,
) {
  const { fetch, patience } = context
  let { nonce } = place
  for (let isFirst = true; ; isFirst = false) {
    const signed = await signWith(nonce)
    const reply = await post(context.relayAt('/execute'), { ...patience, fetch, body: signed.body, signal })
    const transactionHash = hashOf(reply)
    if (transactionHash) return { transactionHash, nonce }
    if (reply.isLost || !isRelayError(reply.error)) return await resolve(context, reply, signed)
    const expected = isFirst ? await expectedNonce(context, reply.error, place.channel) : undefined
    if (expected === undefined || expected === nonce) throw reply.error
    nonce = expected
  }
}

/** Asks the chain what became of a call without an answer. @throws RelayError the relay's refusal, or ANSWER_LOST */
async function resolve(context: ExecuteContext, reply: Reply, signed: SignedCall) {
  const { nonce, body } = signed
  const { isExecuted, transactionHash } = await fate(context, signed)
  if (transactionHash) return { transactionHash, nonce }
  const inWords = {
    true: 'was most likely executed',
    false: 'is not executed so far',
    undefined: 'may have been executed',
  }[`${isExecuted}`]
  const cause = reply.error
  // The relay knows its calls by their signature. A call that it refuses for good, it has not accepted before.
  if (isExecuted === false && isRelayError(cause) && isForGood(cause)) throw withoutWord(cause)
  const reason = cause ? messageOf(cause) : `the relay answers ${reply.answer?.status} without a transactionHash`
  throw new RelayError('ANSWER_LOST', `no answer says what became of the call, which ${inWords}: ${reason}`, {
    details: { isExecuted, nonce, body },
    status: reply.answer?.status,
    broadcast: isRelayError(cause) && cause.broadcast ? true : undefined,
    cause,
  })
}

const fate = async ({ rpc, profile, signer }: ExecuteContext, signed: SignedCall) =>
  fateOf(rpc, profile, await signer.address(), signed)

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

/** A relay call with its signature, and as the body of `POST /execute` (LSP15), in which the nonce has all of its digits. */
interface SignedCall extends RelayMessage {
  readonly signature: Hex
  readonly body: string
}

async function sign(
  { profile, signer, nonceForm }: ExecuteContext,
  payload: Hex,
  nonce: bigint,
  validityTimestamps = 0n,
): Promise<SignedCall> {
  const [keyManager, chainId] = await Promise.all([profile.keyManager(), profile.chainId()])
  const message = { keyManager, chainId, nonce, validityTimestamps, payload }
  const signature = await signer.signDigest(relayDigest(message))
  const validity = validityTimestamps === 0n ? '' : `,"validityTimestamps":"0x${validityTimestamps.toString(16)}"`
  const digits = nonceForm === 'string' ? `"${nonce}"` : String(nonce)
  const transaction = `{"abi":"${payload}","signature":"${signature}","nonce":${digits}${validity}}`
  return { ...message, signature, body: `{"address":"${profile.address}","transaction":${transaction}}` }
}
