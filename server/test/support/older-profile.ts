import type { Wallet } from 'ethers'
import { AbiCoder, concat, Interface, type Signer } from 'ethers'
import { readFile } from 'node:fs/promises'
import { controllerData } from '../../../contracts/deploy/profile.ts'
import { createSender } from '../../../contracts/deploy/sender.ts'

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
