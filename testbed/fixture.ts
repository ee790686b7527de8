import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Contract, hexlify, Interface, JsonRpcProvider, randomBytes } from 'ethers'
import type { Fixture } from '../contracts/deploy/fixture.ts'
import { signQuota, signRelayCall } from '../contracts/lsp25.ts'

/**
 * Writes a file that holds keys, such as a fixture. Only its owner may read it. The file is renamed into its place, so that no
 * reader sees half of it.
 */
export async function writePrivateJson(file: string, value: object): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const draft = `${file}.${process.pid}.draft`
  await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  await rename(draft, file)
}

type SignerFixture = Pick<Fixture, 'chain' | 'profile' | 'controllers'>

/** `setData` of a profile (LSP0, ERC725Y) has an effect that anybody can read from the chain. */
const profileInterface = new Interface(['function setData(bytes32 dataKey, bytes dataValue)'])
const keyManagerAbi = ['function getNonce(address from, uint128 channelId) view returns (uint256)']

/** A body for `POST /quota`, signed by the controller with all permissions. A relay accepts it for five seconds. */
export function signedQuota({ profile, controllers }: SignerFixture): object {
  const message = { address: profile.address, timestampSeconds: Math.floor(Date.now() / 1000) }
  const signature = signQuota(message, controllers.full.privateKey)
  return { address: message.address, timestamp: message.timestampSeconds, signature }
}

/** A body for `POST /execute`: a call that writes a random data key of the profile, with the next nonce of channel 0. */
export async function signedCall({ chain, profile, controllers }: SignerFixture): Promise<object> {
  const provider = new JsonRpcProvider(chain.rpcUrl, chain.chainId, { staticNetwork: true })
  try {
    const keyManager = new Contract(profile.keyManager, keyManagerAbi, provider)
    const nonce = BigInt(String(await keyManager.getFunction('getNonce').staticCall(controllers.full.address, 0)))
    const payload = profileInterface.encodeFunctionData('setData', [hexlify(randomBytes(32)), '0x01'])
    const message = { keyManager: profile.keyManager, chainId: chain.chainId, nonce, payload }
    const signature = signRelayCall(message, controllers.full.privateKey)
    // Nonces of channel 0 are small until a controller has sent 2^53 calls.
    return { address: profile.address, transaction: { abi: payload, signature, nonce: Number(nonce) } }
  } finally {
    provider.destroy()
  }
}
