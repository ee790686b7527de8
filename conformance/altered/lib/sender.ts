import { concat, HDNodeWallet, toBeHex } from 'ethers'
import { keyManagerAbi } from '../../lib/relay/contracts.ts'
import type { AlteredTools } from '../define.ts'
import type { Transaction } from './relay.ts'

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

/** Call data for this contract. */
export function forwarded(to: string, data: string): string {
  return concat([toBeHex(to, 32), data])
}
