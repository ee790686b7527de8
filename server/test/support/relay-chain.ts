import keyManagerArtifact from '@lukso/lsp6-contracts/artifacts/LSP6KeyManager.json' with { type: 'json' }
import keyManagerInit from '@lukso/lsp6-contracts/artifacts/LSP6KeyManagerInit.json' with { type: 'json' }
import profileInit from '@lukso/universalprofile-contracts/artifacts/UniversalProfileInit.json' with { type: 'json' }
import { AbiCoder, computeAddress, concat, type Wallet, Interface, type Signer } from 'ethers'
import { readFile } from 'node:fs/promises'
import {
  deployProfile,
  handOver,
  keyManagerInterface,
  profileInterface,
  setControllers,
  type Profile,
  permissionSets,
  controllerData,
} from '../../../contracts/deploy/profile.ts'
import { randomKeyPair } from '../../../contracts/deploy/fixture.ts'
import { relayNonce, signRelayCall } from '../../../contracts/lsp25.ts'
import { deployBundler } from '../../../contracts/deploy/bundler.ts'
import { createSender, type Sender } from '../../../contracts/deploy/sender.ts'
import { deployTarget } from '../../../contracts/deploy/targets.ts'
import { nodeKinds, type TestNode } from './nodes.ts'
import { createRelayClient, type KeyPair, type RelayClient } from './relay-client.ts'

/** A development node with a profile, its controllers and a target on it. */
interface MinedReceipt {
  readonly status: string
  readonly blockHash: string
  readonly gasUsed: string
  readonly effectiveGasPrice: string
}

export interface RelayChain {
  readonly node: TestNode
  readonly chainId: number
  readonly profile: Profile
  readonly controllers: { readonly full: KeyPair; readonly noSign: KeyPair; readonly noRelay: KeyPair }
  readonly target: string
  /** Deploys the contract that makes several calls in one transaction. @returns its address */
  bundler(): Promise<string>
  /** The account that deployed everything. */
  readonly sender: Sender
  /** Keys of funded accounts for relays. */
  readonly signerKeys: readonly string[]
  readonly signers: readonly string[]
  client(url: string, controller?: KeyPair): RelayClient
  /** Status of a mined transaction; null while it is not mined. */
  receipt(hash: string | undefined): Promise<MinedReceipt | null>
  /** Another profile with the same controllers. @param deploy absent: no proxies */
  anotherProfile(deploy?: typeof deployProfile): Promise<Profile>
  /** Gives the profile another key manager, through its present one. */
  moveToNewKeyManager(profile: Profile): Promise<Profile>
  close(): Promise<void>
}

const SIGNER_FUNDS_WEI = 10n ** 19n

export async function startRelayChain(
  kind: TestNode['name'] | TestNode = 'hardhat',
  signerCount = 2,
): Promise<RelayChain> {
  const node = typeof kind === 'string' ? await nodeKinds[kind]() : kind
  const chainId = Number(await node.request<string>('eth_chainId'))
  const sender = await createSender(node.deployer)
  const controllers = { full: randomKeyPair(), noSign: randomKeyPair(), noRelay: randomKeyPair() }
  const anotherProfile = async (deploy = deployProfile): Promise<Profile> => {
    const profile = await deploy(sender, 10n ** 18n)
    await setControllers(
      sender,
      profile,
      (['full', 'noSign', 'noRelay'] as const).map((name) => ({
        address: controllers[name].address,
        permissions: permissionSets[name],
      })),
    )
    await handOver(sender, profile, controllers.full.privateKey)
    return profile
  }
  const profile = await anotherProfile()
  const target = await deployTarget(sender)
  let deployedBundler: Promise<string> | undefined
  const signerKeys = Array.from({ length: signerCount }, () => randomKeyPair().privateKey)
  const signers = signerKeys.map((key) => computeAddress(key))
  for (const to of signers) await sender.mined(await sender.send({ to, value: SIGNER_FUNDS_WEI }))
  return {
    node,
    chainId,
    profile,
    controllers,
    target,
    bundler: () => (deployedBundler ??= deployBundler(sender)),
    sender,
    signerKeys,
    signers,
    client: (url, controller = controllers.full) => createRelayClient({ url, chainId, profile, controller }),
    receipt: (hash) => node.request('eth_getTransactionReceipt', hash),
    anotherProfile,
    moveToNewKeyManager: async ({ address, keyManager }) => {
      const argument = AbiCoder.defaultAbiCoder().encode(['address'], [address])
      const successor = sender.deploy(concat([keyManagerArtifact.bytecode, argument]))
      await successor.deployed
      const steps = [
        [keyManager, profileInterface.encodeFunctionData('transferOwnership', [successor.address])],
        [successor.address, profileInterface.encodeFunctionData('acceptOwnership')],
      ] as const
      for (const [to, payload] of steps) {
        const nonce = relayNonce(99n, 0n)
        const signature = signRelayCall({ keyManager: to, chainId, nonce, payload }, controllers.full.privateKey)
        const data = keyManagerInterface.encodeFunctionData('executeRelayCall', [signature, nonce, 0n, payload])
        await sender.mined(await sender.send({ to, data }))
      }
      return { address, keyManager: successor.address }
    },
    close: () => node.close(),
  }
}

/** The code of a minimal proxy (ERC-1167). */
export const minimalProxyOf = (implementation: string) =>
  concat(['0x363d3d373d3d3d363d73', implementation, '0x5af43d82803e903d91602b57fd5bf3'])
/** Deploys the code that follows it. */
const CREATE_PROXY = '0x3d602d80600a3d3981f3'

/** Deploys a profile and its key manager as LUKSO does: both are minimal proxies. The sender owns the profile. */
export async function deployProxiedProfile(sender: Sender, fundsWei = 0n): Promise<Profile> {
  const initialize = new Interface(['function initialize(address) payable'])
  const proxy = async (bytecode: string, argument: string, value = 0n): Promise<string> => {
    const implementation = sender.deploy(bytecode)
    await implementation.deployed
    const { address, deployed } = sender.deploy(concat([CREATE_PROXY, minimalProxyOf(implementation.address)]))
    await deployed
    const data = initialize.encodeFunctionData('initialize', [argument])
    await sender.mined(await sender.send({ to: address, data, value }))
    return address
  }
  const address = await proxy(profileInit.bytecode, sender.address, fundsWei)
  return { address, keyManager: await proxy(keyManagerInit.bytecode, address) }
}

/** The published contracts of the time before LSP25. */
export type OlderVersion = '0.8.1' | '0.10.3'

/**
 * Deploys a profile and a key manager of that time, with these controllers. The profile is handed to its key manager by
 * the first controller, which calls the key manager itself.
 */
export async function deployOlderProfile(
  version: OlderVersion,
  deployer: Signer,
  controllers: readonly { readonly address: string; readonly permissions: bigint }[],
  first: Wallet,
): Promise<{ readonly address: string; readonly keyManager: string }> {
  const [profileArtifact, keyManagerArtifact] = await Promise.all([
    readArtifact(version, 'UniversalProfile'),
    readArtifact(version, 'LSP6KeyManager'),
  ])
  const profileInterface = new Interface(profileArtifact.abi)
  const keyManagerInterface = new Interface(keyManagerArtifact.abi)
  const withAddress = (bytecode: string, address: string) =>
    concat([bytecode, AbiCoder.defaultAbiCoder().encode(['address'], [address])])

  const sender = await createSender(deployer)
  const profile = sender.deploy(withAddress(profileArtifact.bytecode, sender.address), 10n ** 18n)
  const keyManager = sender.deploy(withAddress(keyManagerArtifact.bytecode, profile.address))
  await Promise.all([profile.deployed, keyManager.deployed])
  const { keys, values } = controllerData(controllers)
  // Before contracts 0.10, setData was overloaded; since then the batch has a name of its own.
  const setMany = version === '0.8.1' ? 'setData(bytes32[],bytes[])' : 'setDataBatch(bytes32[],bytes[])'
  for (const data of [
    profileInterface.encodeFunctionData(setMany, [keys, values]),
    profileInterface.encodeFunctionData('transferOwnership', [keyManager.address]),
  ]) {
    await sender.mined(await sender.send({ to: profile.address, data }))
  }
  await sender.mined(await sender.send({ to: first.address, value: 10n ** 18n }))
  const accept = profileInterface.encodeFunctionData('acceptOwnership')
  const controllerSender = await createSender(first.connect(sender.provider))
  const accepted = await controllerSender.send({
    to: keyManager.address,
    data: keyManagerInterface.encodeFunctionData('execute(bytes)', [accept]),
  })
  await controllerSender.mined(accepted)
  return { address: profile.address, keyManager: keyManager.address }
}

async function readArtifact(version: OlderVersion, name: string): Promise<{ abi: object[]; bytecode: string }> {
  // By path: the older package does not export its artifacts.
  const path = `../../../node_modules/lsp-smart-contracts-${version}/artifacts/${name}.json`
  return JSON.parse(await readFile(new URL(path, import.meta.url), 'utf8')) as { abi: object[]; bytecode: string }
}
