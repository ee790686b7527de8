import { hexlify, randomBytes } from 'ethers'
import { isSuccess, objectOf, type Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import type { SendOptions } from '../endpoint.ts'
import { Untestable } from '../outcome.ts'
import { keyManagerAbi } from './abi.ts'
import type { RelayCall } from './call.ts'

/** What typed languages write where there is no hash. */
const noHash = /^(0x)?0*$/i

/** What stands in `transactionHash`, with whatever status; undefined when there is nothing, or nothing but zeros. */
export function hashIn(answer: Answer): unknown {
  const hash = objectOf(answer)?.['transactionHash']
  if (typeof hash === 'string' && noHash.test(hash)) return undefined
  return hash === null || hash === false ? undefined : hash
}

/** Whether 32 bytes are told in `transactionHash`, in whatever type and spelling. */
export function tellsHash(answer: Answer): boolean {
  const text = JSON.stringify(hashIn(answer)) ?? ''
  return isSuccess(answer) && /[0-9a-f]{64}/i.test(text)
}

/** Whether it is a hash of a transaction: 32 bytes in hex, with or without 0x. */
export function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^(0x)?[0-9a-f]{64}$/i.test(value)
}

/** A hash as nodes write it. */
export function normalHash(hash: string): string {
  return `0x${hash.toLowerCase().replace(/^0x/, '')}`
}

/** Whether the target took the call: a status of success and a hash. */
export function isAccepted(answer: Answer): boolean {
  return isSuccess(answer) && isHash(hashIn(answer))
}

/** Sends a body that the target could turn into a transaction, and keeps account. @throws Untestable: the budget */
export async function execute(t: CheckContext, body: unknown, options: SendOptions = {}): Promise<Answer> {
  t.spending.ask()
  const answer = await t.relay.execute(body, options)
  const hash = hashIn(answer)
  if (isHash(hash)) t.spending.caused(normalHash(hash))
  if (answer.failure) t.spending.unknown()
  return answer
}

/**
 * Makes sure that the chain would take the call, so that a refusal is the target's own.
 * Without a chain nothing is known, and nothing said.
 * @throws Untestable when the chain would refuse it: the fixture is wrong
 */
export async function requireExecutable(t: CheckContext, call: RelayCall): Promise<void> {
  if (!t.hasChain) return
  const { signature, message } = call
  const args = [signature, message.nonce, message.validityTimestamps, message.payload]
  const data = keyManagerAbi.encodeFunctionData('executeRelayCall', args)
  // Any sender: whoever brings a relay call is not looked at.
  const from = hexlify(randomBytes(20))
  const outcome = await t.chain.attempt('eth_call', [{ from, to: message.keyManager, data }, 'latest'])
  if ('error' in outcome) throw new Untestable(`the chain itself refuses this call: ${outcome.error.message}`)
}
