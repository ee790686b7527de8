import '@nomicfoundation/hardhat-ethers'
import { hexlify, randomBytes, Wallet, type HDNodeWallet } from 'ethers'
import { createHardhatRuntimeEnvironment } from 'hardhat/hre'
import {
  keyManagerInterface,
  deployProfile,
  handOver,
  profileInterface,
  setControllers,
  permissionSets,
} from '../deploy/profile.ts'
import { createSender } from '../deploy/sender.ts'
import { deployTarget, targetInterface } from '../deploy/targets.ts'
import { hardhatConfig } from '../hardhat.ts'
import { signRelayCall, type RelayCallMessage } from '../lsp25.ts'

/** LSP0/ERC725X operation types. */
export const CALL = 0

/** One relay call, put together by {@link RelayWorld.relay}; what is absent is as it should be. */
export interface RelayAttempt {
  readonly payload: string
  readonly nonce?: bigint
  readonly validityTimestamps?: bigint
  readonly signer?: Wallet | HDNodeWallet
  readonly signature?: string
  /** Signed instead of what is sent. */
  readonly signed?: Partial<RelayCallMessage>
}

/** A chain of its own with a profile, its key manager, the fixture's controllers and a target. */
export async function openRelayWorld() {
  const hre = await createHardhatRuntimeEnvironment(hardhatConfig, {}, import.meta.dirname)
  const { ethers, provider } = await hre.network.create('automine')
  const [deployer] = await ethers.getSigners()
  if (!deployer) throw new Error('the chain has no accounts')
  const sender = await createSender(deployer)
  const controllers = { full: Wallet.createRandom(), noSign: Wallet.createRandom(), noRelay: Wallet.createRandom() }
  const addresses = await deployProfile(sender, ethers.parseEther('1'))
  await setControllers(
    sender,
    addresses,
    (['full', 'noSign', 'noRelay'] as const).map((name) => ({
      address: controllers[name].address,
      permissions: permissionSets[name],
    })),
  )
  await handOver(sender, addresses, controllers.full.privateKey)
  const target = await ethers.getContractAt(targetInterface.format(), await deployTarget(sender))
  const profile = await ethers.getContractAt(profileInterface.format(), addresses.address)
  const keyManager = await ethers.getContractAt(keyManagerInterface.format(), addresses.keyManager)
  const { chainId } = await ethers.provider.getNetwork()
  const targetAddress = await target.getAddress()

  const callData = (attempt: RelayAttempt): string => {
    const { payload, nonce = 0n, validityTimestamps = 0n, signer = controllers.full } = attempt
    const message = { keyManager: addresses.keyManager, chainId, nonce, validityTimestamps, payload, ...attempt.signed }
    const signature = attempt.signature ?? signRelayCall(message, signer.privateKey)
    return keyManagerInterface.encodeFunctionData('executeRelayCall', [signature, nonce, validityTimestamps, payload])
  }

  return {
    ethers,
    provider,
    controllers,
    profile,
    keyManager,
    target,
    targetAddress,
    profileAddress: addresses.address,
    keyManagerAddress: addresses.keyManager,
    callData,
    /** Payload of the profile: a call of the target. */
    executeTarget: (functionName: string, ...values: unknown[]) =>
      profileInterface.encodeFunctionData('execute', [
        CALL,
        targetAddress,
        0n,
        targetInterface.encodeFunctionData(functionName, values),
      ]),
    /** Sends the call and waits; a revert is no error. @returns the receipt's status: 1 done, 0 reverted */
    async relay(attempt: RelayAttempt): Promise<number | null | undefined> {
      const sent = await deployer.sendTransaction({
        to: addresses.keyManager,
        data: callData(attempt),
        gasLimit: 2_000_000n,
      })
      const receipt = await ethers.provider.getTransactionReceipt(sent.hash)
      return receipt?.status
    },
    /** Simulates the call. @returns the error it reverts with, decoded */
    async refusal(attempt: RelayAttempt): Promise<{ name: string; args: readonly unknown[] }> {
      try {
        await provider.request({
          method: 'eth_call',
          params: [{ from: deployer.address, to: addresses.keyManager, data: callData(attempt) }, 'latest'],
        })
      } catch (error) {
        const data = (error as { data?: unknown }).data
        if (typeof data !== 'string') throw error
        const decoded = [keyManagerInterface, profileInterface, targetInterface]
          .map((contract) => contract.parseError(data))
          .find((found) => found !== null)
        return { name: decoded?.name ?? data, args: decoded?.args.toArray() ?? [] }
      }
      throw new Error('the relay call was not refused')
    },
    nonceOf: (signer: { address: string }, channel = 0n): Promise<bigint> =>
      keyManager.getFunction('getNonce')(signer.address, channel) as Promise<bigint>,
  }
}

export type RelayWorld = Awaited<ReturnType<typeof openRelayWorld>>

/** A data key and a value that mean nothing. */
export const setSomeData = (value = hexlify(randomBytes(8))): string =>
  profileInterface.encodeFunctionData('setData', ['0x' + 'ab'.repeat(32), value])
