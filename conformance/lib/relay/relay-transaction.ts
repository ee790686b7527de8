import { dataSlice } from 'ethers'
import type { CheckContext } from '../context.ts'
import { Fault } from '../outcome.ts'
import { keyManagerAbi } from './abi.ts'
import type { RelayCall } from './call.ts'
import { readNonce } from './profile.ts'
import type { Receipt } from './receipt.ts'

interface Part {
  readonly signature: string
  readonly nonce: bigint
  readonly payload: string
}

/** The relay calls in the call data of a key manager; none when it is another function. */
function relayCallsIn(input: string): Part[] {
  const parsed = keyManagerAbi.parseTransaction({ data: input })
  if (parsed?.name === 'executeRelayCall') {
    const [signature, nonce, , payload] = parsed.args as unknown as [string, bigint, bigint, string]
    return [{ signature, nonce, payload }]
  }
  if (parsed?.name === 'executeRelayCallBatch') {
    const [signatures, nonces, , , payloads] = parsed.args as unknown as [
      string[],
      bigint[],
      bigint[],
      bigint[],
      string[],
    ]
    return signatures.map((signature, index) => ({
      signature,
      nonce: nonces[index] ?? -1n,
      payload: payloads[index] ?? '',
    }))
  }
  return []
}

/** r and s: v is written in several ways. */
function pointOf(signature: string): string {
  return dataSlice(signature, 0, 64).toLowerCase()
}

/**
 * The transaction carries the signed call to the key manager. Where it goes to another contract first, what it did is
 * the proof: only executeRelayCall counts the controller's nonce, and the key manager says whom it verified.
 *
 * @throws Fault
 */
export async function expectRelayTransaction(t: CheckContext, call: RelayCall, receipt: Receipt): Promise<void> {
  const { keyManager, nonce, payload } = call.message
  const transaction = (await t.chain.send('eth_getTransactionByHash', [receipt.transactionHash])) as {
    to: string | null
    input: string
  }
  if (transaction.to?.toLowerCase() === keyManager.toLowerCase()) {
    const same = relayCallsIn(transaction.input).some(
      (part) =>
        part.nonce === nonce &&
        part.payload === payload.toLowerCase() &&
        pointOf(part.signature) === pointOf(call.signature),
    )
    if (same) return
    throw new Fault('the transaction does not relay the signed call', {
      expected: 'executeRelayCall with the signature, nonce and payload of the request',
      actual: `call data ${transaction.input.slice(0, 10)}… of ${(transaction.input.length - 2) / 2} bytes`,
    })
  }
  const counted = (await readNonce(t.chain, keyManager, call.controller.address, nonce >> 128n)) > nonce
  const verified = keyManagerAbi.getEvent('PermissionsVerified')?.topicHash
  const signer = call.controller.address.slice(2).toLowerCase()
  const named = receipt.logs.some(
    ({ address, topics }) =>
      address.toLowerCase() === keyManager.toLowerCase() && topics[0] === verified && topics[1]?.endsWith(signer),
  )
  if (!counted || !named) {
    throw new Fault('the transaction does not call the key manager with the signed call', {
      expected: `executeRelayCall on ${keyManager}, which counts the nonce of the controller`,
      actual: `a transaction to ${transaction.to ?? 'no address (a creation)'}`,
    })
  }
  t.observe('executeRelayCall is called through another contract')
}
