import { hexlify, randomBytes } from 'ethers'
import type { Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import type { SendOptions } from '../endpoint.ts'
import { Untestable } from '../outcome.ts'
import { keyManagerAbi } from './abi.ts'
import type { RelayCall } from './call.ts'
import { hashIn, isHash, normalHash } from './hash.ts'

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
