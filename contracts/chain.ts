import { BrowserProvider, HDNodeWallet, Wallet, type Eip1193Provider, type Signer } from 'ethers'
import { createHardhatRuntimeEnvironment } from 'hardhat/hre'
import type { NetworkConnection } from 'hardhat/types/network'
import { signerOnNode } from './deploy/signer-on-node.ts'
import { ACCOUNT_COUNT, hardhatConfig, TEST_MNEMONIC } from './hardhat.ts'
import { assertPortIsFree } from './port.ts'

export interface ChainOptions {
  /** Port of the node; 0 or absent: any free port. */
  readonly port?: number
  /** Address at which the node listens; absent: 127.0.0.1. */
  readonly host?: string
  /** Seconds between blocks; absent: a block for each transaction, immediately. */
  readonly blockTimeSeconds?: number
  /** Absent: 31337, the id of Hardhat's chains. */
  readonly chainId?: number
  /** Hardhat's name of the hard fork; absent: its newest. */
  readonly hardfork?: string
  /** Whether the chain is a rollup of the OP Stack, which takes a fee for data besides; absent: as Ethereum. */
  readonly isRollup?: boolean
}

export interface RunningChain {
  readonly rpcUrl: string
  readonly chainId: number
  /** Hardhat's well-known test accounts, each with 10,000 native coins. */
  readonly accounts: readonly { readonly address: string; readonly privateKey: string }[]
  /** The node in this process, without HTTP. It also has the `evm_*` and `hardhat_*` methods. */
  readonly provider: Eip1193Provider
  close(): Promise<void>
}

/**
 * Starts a Hardhat chain in this process, served over HTTP and WebSocket. Chains are independent of each other.
 *
 * @throws Error with the code EADDRINUSE (or EACCES, …) if it cannot listen at the port
 */
export async function startChain(options: ChainOptions = {}): Promise<RunningChain> {
  // Without this, Hardhat reports its use over the network.
  process.env['HARDHAT_DISABLE_TELEMETRY'] ??= 'true'
  const host = options.host ?? '127.0.0.1'
  const port = options.port ?? 0
  // Hardhat's server throws the error of a busy port where nobody can catch it, which ends the process.
  await assertPortIsFree(port, host)

  const hre = await createHardhatRuntimeEnvironment(hardhatConfig, {}, import.meta.dirname)
  const connections: Pick<NetworkConnection, 'provider' | 'close'>[] = []
  // Hardhat gives access to the connection of createServer in this way only.
  hre.hooks.registerHandlers('network', {
    newConnection: async (context, next) => {
      const connection = await next(context)
      connections.push(connection)
      return connection
    },
  })
  const { chainId, hardfork } = options
  const override = { ...(chainId !== undefined && { chainId }), ...(hardfork !== undefined && { hardfork }) }
  const kind = { network: 'automine', ...(options.isRollup && { chainType: 'op' as const }) }
  const server = await hre.network.createServer({ ...kind, override }, host, port)
  const connection = connections[0]
  if (!connection) throw new Error('Hardhat opened no connection')
  const { provider } = connection
  const { port: boundPort } = await server.listen()
  if (options.blockTimeSeconds !== undefined) await setBlockTime(provider, options.blockTimeSeconds)

  return {
    rpcUrl: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`,
    chainId: Number(await provider.request({ method: 'eth_chainId' })),
    accounts: (knownAccounts ??= testAccounts()),
    provider,
    close: async () => {
      await server.close()
      await connection.close()
    },
  }
}

/** Lets a chain make a block every so many seconds, and no longer one for each transaction. */
export async function setBlockTime(provider: Eip1193Provider, seconds: number): Promise<void> {
  await provider.request({ method: 'evm_setAutomine', params: [false] })
  await provider.request({ method: 'evm_setIntervalMining', params: [Math.round(seconds * 1000)] })
}

/** They are the same on each chain, and take 30 ms of CPU. */
let knownAccounts: RunningChain['accounts'] | undefined

function testAccounts(): RunningChain['accounts'] {
  const root = HDNodeWallet.fromPhrase(TEST_MNEMONIC, undefined, "m/44'/60'/0'/0")
  return Array.from({ length: ACCOUNT_COUNT }, (_, index) => {
    const { address, privateKey } = root.deriveChild(index)
    return { address, privateKey }
  })
}

/** One of the chain's test accounts. @throws RangeError it has none with this index */
export function accountOf(chain: RunningChain, index: number): RunningChain['accounts'][number] {
  const account = chain.accounts[index]
  if (!account) throw new RangeError(`the chain has no account ${index}`)
  return account
}

/** A signer for one of the chain's test accounts, connected to the node in this process. */
export function testSigner(chain: RunningChain, index = 0): Wallet {
  return new Wallet(accountOf(chain, index).privateKey, connect(chain))
}

/** A signer for the same account, for which the node signs. */
export function unlockedSigner(chain: RunningChain, index: number): Signer {
  return signerOnNode(connect(chain), accountOf(chain, index).address)
}

/** An ethers provider for the node in this process. It caches nothing, so its answers are never stale. */
export function connect(chain: RunningChain): BrowserProvider {
  return new BrowserProvider(chain.provider, chain.chainId, { cacheTimeout: -1, staticNetwork: true })
}
