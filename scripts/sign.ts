import { Command } from 'commander'
import { parseCommand } from './parse-command.ts'
import { Contract, hexlify, Interface, JsonRpcProvider, randomBytes } from 'ethers'
import { readFile } from 'node:fs/promises'
import type { Fixture } from '../contracts/deploy/fixture.ts'
import { signQuota, signRelayCall } from '../contracts/lsp25.ts'
import { UsageError } from '../conformance/lib/usage-error.ts'

/** LSP0's setData (ERC725Y): a call with an effect that anybody can look up. */
const profileInterface = new Interface(['function setData(bytes32 dataKey, bytes dataValue)'])
const keyManagerAbi = ['function getNonce(address from, uint128 channelId) view returns (uint256)']

/**
 * The command `sign`: prints a signed body for `POST /execute` or `POST /quota`, made with the keys of a fixture, so that
 * a relay can be tried with curl.
 *
 * @returns the exit code: 0, or 2 for wrong usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command('touchstone sign')
    .description('prints a signed body for POST /execute or POST /quota, to try a relay with curl')
    .argument('<endpoint>', 'execute or quota')
    .option('--fixture <file>', 'profile and keys', '.touchstone/testbed.json')
  const exitCode = parseCommand(command, argv)
  if (exitCode !== undefined) return exitCode
  const fixture = await readFixture(command.opts<{ fixture: string }>().fixture)
  const [endpoint] = command.args
  if (endpoint === 'quota') console.log(quotaBody(fixture))
  else if (endpoint === 'execute') console.log(await executeBody(fixture))
  else throw new UsageError(`sign: '${endpoint}' is neither execute nor quota`)
  return 0
}

async function readFixture(file: string): Promise<Fixture> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Fixture
  } catch (cause) {
    throw new UsageError(`sign: ${file} cannot be read: start the testbed first, or name another --fixture`, { cause })
  }
}

function quotaBody({ profile, controllers }: Fixture): string {
  const message = { address: profile.address, timestampSeconds: Math.floor(Date.now() / 1000) }
  const signature = signQuota(message, controllers.full.privateKey)
  return JSON.stringify({ address: message.address, timestamp: message.timestampSeconds, signature })
}

/** A call that writes a random data key of the profile, with the next nonce of channel 0. */
async function executeBody({ chain, profile, controllers }: Fixture): Promise<string> {
  const provider = new JsonRpcProvider(chain.rpcUrl, chain.chainId, { staticNetwork: true })
  try {
    const keyManager = new Contract(profile.keyManager, keyManagerAbi, provider)
    const nonce = BigInt(String(await keyManager.getFunction('getNonce').staticCall(controllers.full.address, 0)))
    const payload = profileInterface.encodeFunctionData('setData', [hexlify(randomBytes(32)), '0x01'])
    const message = { keyManager: profile.keyManager, chainId: chain.chainId, nonce, payload }
    const signature = signRelayCall(message, controllers.full.privateKey)
    // Nonces of channel 0 are small until a controller has sent 2^53 calls.
    return JSON.stringify({ address: profile.address, transaction: { abi: payload, signature, nonce: Number(nonce) } })
  } finally {
    provider.destroy()
  }
}
