import { dataSlice, id } from 'ethers'
import type { Answer } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { Fault } from '../outcome.ts'
import type { RelayCall } from './call.ts'
import { keyManagerAbi, profileAbi, readNonce } from './contracts.ts'
import type { Receipt } from './receipt.ts'

interface Part {
  readonly signature: string
  readonly nonce: bigint
  readonly payload: string
}

/** The relay calls in the call data of a key manager; empty for another function. */
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

/** r and s of a signature. `v` is left out, since relays write it in several ways. */
function pointOf(signature: string): string {
  return dataSlice(signature, 0, 64).toLowerCase()
}

/** Selectors of functions that only key managers from before LSP25 have. */
const olderFunctions: Readonly<Record<string, string>> = Object.fromEntries(
  ['executeRelayCall(bytes,uint256,bytes)', 'executeRelayCall(address,uint256,bytes,bytes)'].map((name) => [
    id(name).slice(0, 10),
    name,
  ]),
)

function nameOf(input: string): string {
  const selector = input.slice(0, 10)
  const older = olderFunctions[selector]
  if (older !== undefined) return `${older}, of key managers from before LSP25`
  return `call data ${selector}… of ${(input.length - 2) / 2} bytes`
}

/** Whether the transaction changed the profile's data under the key of the call. */
export function hasEvent(t: CheckContext, { key }: RelayCall, { logs }: Receipt): boolean {
  const topic = profileAbi.getEvent('DataChanged')?.topicHash
  const profile = t.fixture.profile.address.toLowerCase()
  return logs.some(
    ({ address, topics }) => address.toLowerCase() === profile && topics[0] === topic && topics[1] === key,
  )
}

function reverted({ transactionHash, status }: Receipt, answer: Answer): Fault {
  return new Fault('the transaction of a valid call reverted', {
    expected: 'a transaction that executes the call on the profile',
    actual: `status ${status} of ${transactionHash}`,
    answer,
    of: 'relay.execute.on-behalf',
  })
}

/**
 * Checks that the transaction carries the signed call to the key manager. A transaction to another contract is
 * judged by its effects: only executeRelayCall counts the controller's nonce, and the key manager logs whose
 * permissions it verified.
 *
 * @returns the fault of relay.execute.execute-relay-call, or of relay.execute.on-behalf when the transaction
 * reverted; undefined when there is none
 */
export async function relayTransactionFault(
  t: CheckContext,
  call: RelayCall,
  receipt: Receipt,
  answer: Answer,
): Promise<Fault | undefined> {
  const { keyManager, nonce, payload } = call.message
  const { to, input } = (await t.chain.send('eth_getTransactionByHash', [receipt.transactionHash])) as {
    to: string | null
    input: string
  }
  const fault = (message: string, expected: string, actual: string): Fault =>
    new Fault(message, { expected, actual, answer, of: 'relay.execute.execute-relay-call' })
  if (to?.toLowerCase() === keyManager.toLowerCase()) {
    const isSame = relayCallsIn(input).some(
      (part) =>
        part.nonce === nonce &&
        part.payload === payload.toLowerCase() &&
        pointOf(part.signature) === pointOf(call.signature),
    )
    if (isSame) return receipt.status === '0x1' ? undefined : reverted(receipt, answer)
    const expected = 'executeRelayCall with the signature, nonce and payload of the request'
    return fault('the transaction does not relay the signed call', expected, nameOf(input))
  }
  if (receipt.status !== '0x1') return reverted(receipt, answer)
  const counted = (await readNonce(t.chain, keyManager, call.controller.address, nonce >> 128n)) > nonce
  const verified = keyManagerAbi.getEvent('PermissionsVerified')?.topicHash
  const signer = call.controller.address.slice(2).toLowerCase()
  const isNamed = receipt.logs.some(
    ({ address, topics }) =>
      address.toLowerCase() === keyManager.toLowerCase() && topics[0] === verified && topics[1]?.endsWith(signer),
  )
  if (!counted || !isNamed) {
    const expected = `executeRelayCall on ${keyManager}, which counts the nonce of the controller`
    const actual = `a transaction to ${to ?? 'no address (a creation)'}`
    return fault('the transaction does not call the key manager with the signed call', expected, actual)
  }
  t.observe('executeRelayCall is called through another contract')
  return undefined
}
