import { hexlify } from 'ethers'
import type { CheckContext } from '../clause.ts'
import type { Account } from '../fixture.ts'
import { Untestable } from '../outcome.ts'
import { keyManagerAbi, profileAbi, readData } from './contracts.ts'
import { relayDigest, type RelayMessage, signDigest } from './message.ts'
import { randomBytes } from '../world.ts'

/** What the target wants in each call in addition to the document. The first call of the run fills it. */
export interface RelayForm {
  /** `validityTimestamps` as it is written in the body; absent: not in the body. */
  validityText?: string
}

export function relayForm(t: CheckContext): Promise<RelayForm> {
  return t.once('relay.form', async () => ({}))
}

/** The documented body of POST /execute. */
export interface ExecuteBody {
  readonly address: string
  readonly transaction: {
    readonly abi: string
    readonly signature: string
    readonly nonce: bigint
    readonly validityTimestamps?: string
  }
}

/**
 * A signed relay call whose effect can be seen: it stores a value on the profile under a data key of its own, or sends a wei of
 * the profile to an account that has none.
 */
export interface RelayCall {
  readonly controller: Account
  /** Who gets the wei; absent: the call stores a value. */
  readonly payee?: string
  /** The data key that the call sets. `value` is the value. */
  readonly key: string
  readonly value: string
  /** Whether the call sets the key, and no other call does. */
  readonly hasOwnKey: boolean
  readonly message: RelayMessage
  readonly signature: string
  readonly body: ExecuteBody
}

export interface CallOptions {
  readonly nonce: bigint
  /** Absent: the controller with every permission. */
  readonly controller?: Account
  /** Absent: a random data key. Likewise `value`. */
  readonly key?: string
  readonly value?: string
  /** Gets a wei of the profile, in place of the stored value. */
  readonly payee?: string
  /** `start << 128 | end`; absent: 0. */
  readonly validityTimestamps?: bigint
  /** As it is written in the body; absent: not in the body, as in the document. */
  readonly validityText?: string
  /** As it is written in the body; absent: the profile's, with its checksum. */
  readonly address?: string
}

/** The operation type of a call (ERC725X), in difference to those that create contracts or delegate. */
const plainCall = 0n

/** What the call leaves on the chain, for a message. */
export function describeEffect({ payee, key, value }: RelayCall): string {
  return payee === undefined ? `the value ${value} under the data key ${key}` : `a wei of ${payee}`
}

/** Whether the call took effect on the chain. */
export async function isInEffect(t: CheckContext, { payee, key, value }: RelayCall): Promise<boolean> {
  if (payee !== undefined) return BigInt(String(await t.chain.send('eth_getBalance', [payee, 'latest']))) > 0n
  return (await readData(t.chain, t.fixture.profile.address, key)) === value
}

/** A channel that no other run uses. */
export function randomChannel(): bigint {
  return BigInt(hexlify(randomBytes(16))) | 1n
}

/**
 * The nonce `channel << 128
 * id`.
 */
export function nonceIn(channel: bigint, id: bigint): bigint {
  return (channel << 128n) | id
}

/**
 * Builds and signs a call.
 *
 * @throws Untestable without a fixture
 */
export function signCall(t: CheckContext, options: CallOptions): RelayCall {
  const { profile, controllers, chain } = t.fixture
  const controller = options.controller ?? controllers.full
  const key = options.key ?? hexlify(randomBytes(32))
  const value = options.value ?? hexlify(randomBytes(8))
  const { payee } = options
  const payload =
    payee === undefined
      ? profileAbi.encodeFunctionData('setData', [key, value])
      : profileAbi.encodeFunctionData('execute', [plainCall, payee, 1n, '0x'])
  const message: RelayMessage = {
    keyManager: profile.keyManager,
    chainId: BigInt(chain.chainId),
    nonce: options.nonce,
    validityTimestamps: options.validityTimestamps ?? 0n,
    payload,
  }
  const signature = signDigest(controller, relayDigest(message))
  const validity = options.validityText === undefined ? {} : { validityTimestamps: options.validityText }
  const transaction = { abi: payload, signature, nonce: options.nonce, ...validity }
  return {
    controller,
    ...(payee === undefined ? {} : { payee }),
    key,
    value,
    hasOwnKey: options.key === undefined && payee === undefined,
    message,
    signature,
    body: { address: options.address ?? profile.address, transaction },
  }
}

/** A copy of the body in which some members of `transaction` are changed. A member that is undefined is left out. */
export function withTransaction(body: ExecuteBody, change: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { ...body, transaction: { ...body.transaction, ...change } }
}

/**
 * Makes sure that the chain would execute the call, so that the target is to blame for a refusal. Without a chain
 * the function does nothing.
 *
 * @throws Untestable when the chain would refuse the call, since the fixture is then wrong
 */
export async function requireExecutable(t: CheckContext, call: RelayCall): Promise<void> {
  if (!t.hasChain) return
  const outcome = await attemptOnChain(t, call)
  if ('error' in outcome)
    throw new Untestable(`the key manager of the profile refuses this call, signed by LSP25: ${outcome.error.message}`)
}

/**
 * Makes sure that the chain would refuse the call, so that the target is to blame for executing it.
 *
 * @throws Untestable when the chain would execute the call
 */
export async function requireRefusedByChain(t: CheckContext, call: RelayCall): Promise<void> {
  const outcome = await attemptOnChain(t, call)
  if (!('error' in outcome)) throw new Untestable('the key manager of the profile executes this call')
}

function attemptOnChain(t: CheckContext, { signature, message }: RelayCall) {
  const args = [signature, message.nonce, message.validityTimestamps, message.payload]
  const data = keyManagerAbi.encodeFunctionData('executeRelayCall', args)
  // The sender is random, since a key manager lets anyone bring a relay call.
  const from = hexlify(randomBytes(20))
  return t.chain.attempt('eth_call', [{ from, to: message.keyManager, data }, 'latest'])
}
