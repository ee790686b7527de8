import { getAddress, keccak256 } from 'ethers'
import type { Config } from '../../../specs/index.ts'
import { OperatorError } from '../../core/errors.ts'
import { BUNDLER_CODE_HASH } from '../../ethereum/bundle.ts'
import { largestTransactionBytes } from '../../ethereum/transaction.ts'
import type { BundleLimits } from '../ledger/draft.ts'
import type { Upstream } from '../node/upstream.ts'

/** The most gas of one transaction (EIP-7825). */
const MAX_TRANSACTION_GAS = 1n << 24n

/**
 * Finds the contract that makes the calls of a bundle, `relay.bundle.contract`.
 *
 * @returns what calls may share a transaction; undefined: none, since no contract is configured
 * @throws OperatorError there is no such contract, or it is another one; UPSTREAM_UNAVAILABLE
 */
export async function findBundler(
  upstream: Upstream,
  { bundle, maxTransactionBytes, maxFeePerGasWei }: Config['relay'],
  chainId: bigint,
): Promise<BundleLimits | undefined> {
  if (bundle.contract === null) return undefined
  const contract = getAddress(bundle.contract.toLowerCase())
  const code = await upstream.request<string>('eth_getCode', [contract, 'latest'])
  const fault =
    code === '0x'
      ? 'holds no contract on this chain'
      : keccak256(code) === BUNDLER_CODE_HASH
        ? undefined
        : 'is not the bundler of this version'
  if (fault !== undefined) {
    throw new OperatorError(`relay.bundle.contract: ${contract} ${fault}: deploy it with touchstone bundler deploy`)
  }
  const fees = { chainId, gasCap: MAX_TRANSACTION_GAS, maxFeePerGasWei: BigInt(maxFeePerGasWei) }
  const envelopeBytes = largestTransactionBytes(maxTransactionBytes, fees) - maxTransactionBytes
  return {
    contract,
    maxCalls: bundle.maxCalls,
    maxGas: MAX_TRANSACTION_GAS,
    maxDataBytes: maxTransactionBytes - envelopeBytes,
  }
}
