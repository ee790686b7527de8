import { concat, HDNodeWallet, isHexString, keccak256, recoverAddress, toBeHex } from 'ethers'
import { nonceIn, randomChannel } from '../../lib/relay/call.ts'
import { keyManagerAbi } from '../../lib/relay/contracts.ts'
import { relayDigest, signDigest } from '../../lib/relay/message.ts'
import { type AlteredRequest, type AlteredTools, type Handler, respond, withJson } from '../define.ts'

/** `transaction` of a body of POST /execute. */
export interface Transaction {
  readonly abi: string
  readonly signature: string
  readonly nonce: bigint
  readonly validityTimestamps: bigint
}

type Json = Readonly<Record<string, unknown>>

/** The body as an object; empty for anything else. */
export function requestObject({ json }: AlteredRequest): Json {
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Json) : {}
}

/** `transaction` of the body as an object; empty for anything else. */
export function transactionOf(request: AlteredRequest): Json {
  const { transaction } = requestObject(request)
  return typeof transaction === 'object' && transaction !== null ? (transaction as Json) : {}
}

/** The transaction with values of the right types; undefined when the body is no complete request. */
export function wholeTransaction(request: AlteredRequest): Transaction | undefined {
  const { abi, signature, nonce, validityTimestamps = 0 } = transactionOf(request)
  const isInteger = (typeof nonce === 'bigint' || Number.isInteger(nonce)) && (nonce as number) >= 0
  if (typeof abi !== 'string' || !isHexString(abi) || typeof signature !== 'string' || !isInteger) return undefined
  return { abi, signature, nonce: BigInt(nonce as number), validityTimestamps: BigInt(validityTimestamps as string) }
}

/** A copy of the request in which some members of `transaction` are changed. */
export function alterTransaction(request: AlteredRequest, change: Json): AlteredRequest {
  return withJson(request, { ...requestObject(request), transaction: { ...transactionOf(request), ...change } })
}

function digestOf(
  { fixture }: AlteredTools,
  { abi, nonce, validityTimestamps }: Transaction,
  chainId?: bigint,
): string {
  const { keyManager } = fixture.profile
  return relayDigest({
    keyManager,
    chainId: chainId ?? BigInt(fixture.chain.chainId),
    nonce,
    validityTimestamps,
    payload: abi,
  })
}

/** The address that signed the call; undefined when none can be recovered. */
export function signerOf(tools: AlteredTools, transaction: Transaction, chainId?: bigint): string | undefined {
  try {
    return recoverAddress(digestOf(tools, transaction, chainId), transaction.signature)
  } catch {
    return undefined
  }
}

/** Whether the controller with every permission signed this call. */
export function isSignedByFull(tools: AlteredTools, transaction: Transaction): boolean {
  return signerOf(tools, transaction)?.toLowerCase() === tools.fixture.controllers.full.address.toLowerCase()
}

/** The call, signed by the controller with every permission; absent nonce: the first of a random channel. */
export function signedByFull(tools: AlteredTools, abi: string, nonce = nonceIn(randomChannel(), 0n)): Json {
  const transaction = { abi, nonce, signature: '', validityTimestamps: 0n }
  return { abi, nonce, signature: signDigest(tools.fixture.controllers.full, digestOf(tools, transaction)) }
}

/** The request of a relay that signs calls itself, with a signature and a nonce of its own. */
export function resigned(request: AlteredRequest, tools: AlteredTools, abi: string, nonce?: bigint): AlteredRequest {
  return withJson(request, { address: tools.fixture.profile.address, transaction: signedByFull(tools, abi, nonce) })
}

/** The next nonce of a controller, in the channel of the given nonce. */
export async function nextNonceOf(tools: AlteredTools, controller: string, nonce = 0n): Promise<bigint> {
  const { keyManager } = tools.fixture.profile
  const data = keyManagerAbi.encodeFunctionData('getNonce', [controller, nonce >> 128n])
  return BigInt(String(await tools.chain('eth_call', [{ to: keyManager, data }, 'latest'])))
}

/** A hash that no transaction has. */
export function otherHash(hash: unknown): string {
  return keccak256(String(hash))
}

/** Alters the answers that hold this member, whatever the request. */
export function alterAnswer(member: string, alter: (answer: Json) => Json): Handler {
  return async (request, forward) => {
    const response = await forward(request)
    const answer = response.json
    if (typeof answer !== 'object' || answer === null || !(member in answer)) return response
    return respond(response.status, alter(answer as Json))
  }
}

/** The mnemonic of development nodes. The testbed's chain gives its accounts coin. */
const mnemonic = 'test test test test test test test test test test test junk'

/** A contract that forwards its call data, without the first word, to the address in that word. */
const forwarderCode =
  '0x6024600c60003960246000f36020360360206000376000600060203603600060006000355af160225760006000fd5b00'

/** An account of the testbed's chain that nobody else uses, by its number from 0. */
export function ownAccount(number: number): HDNodeWallet {
  return HDNodeWallet.fromPhrase(mnemonic, undefined, `m/44'/60'/0'/0/${12 + number}`)
}

/** Call data of executeRelayCall. */
export function relayCallData({ signature, nonce, validityTimestamps, abi }: Transaction): string {
  return keyManagerAbi.encodeFunctionData('executeRelayCall', [signature, nonce, validityTimestamps, abi])
}

/**
 * Sends from an account that the node holds the key of.
 *
 * @returns the hash
 */
export async function sendFrom(
  tools: AlteredTools,
  transaction: Readonly<Record<string, string>>,
  from = ownAccount(0).address,
): Promise<string> {
  return String(await tools.chain('eth_sendTransaction', [{ from, ...transaction }]))
}

/**
 * Waits until the transaction is mined.
 *
 * @returns its receipt
 */
export async function mined(tools: AlteredTools, hash: string): Promise<Readonly<Record<string, unknown>>> {
  for (;;) {
    const receipt = await tools.chain('eth_getTransactionReceipt', [hash])
    if (receipt) return receipt as Record<string, unknown>
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The address of a contract that forwards calls. It is deployed once. */
export function forwarder(tools: AlteredTools): Promise<string> {
  const found = tools.memory.get('forwarder') as Promise<string> | undefined
  const deploying =
    found ??
    sendFrom(tools, { data: forwarderCode })
      .then((hash) => mined(tools, hash))
      .then((receipt) => String(receipt['contractAddress']))
  tools.memory.set('forwarder', deploying)
  return deploying
}

/** Call data with which the contract of {@link forwarder} calls `to`. */
export function forwarded(to: string, data: string): string {
  return concat([toBeHex(to, 32), data])
}
