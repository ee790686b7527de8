import { HDNodeWallet, type Eip1193Provider, BrowserProvider, Wallet } from 'ethers'
import { createHardhatRuntimeEnvironment } from 'hardhat/hre'
import type { NetworkConnection } from 'hardhat/types/network'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { ACCOUNT_COUNT, hardhatConfig, TEST_MNEMONIC } from './hardhat.ts'

export interface ChainOptions {
  /** Where the node listens; 0 or absent: any free port. */
  readonly port?: number
  /** Absent: 127.0.0.1. */
  readonly host?: string
  /** A block every so many seconds; absent: a block per transaction, at once. */
  readonly blockTimeSeconds?: number
  /** Absent: 31337. */
  readonly chainId?: number
  /** As Hardhat names it; absent: its newest. */
  readonly hardfork?: string
}

export interface RunningChain {
  readonly rpcUrl: string
  readonly chainId: number
  /** Hardhat's well-known test accounts, each with 10,000 native coins. */
  readonly accounts: readonly { readonly address: string; readonly privateKey: string }[]
  /** The node without HTTP between; also for `evm_*` and `hardhat_*` methods. */
  readonly provider: Eip1193Provider
  close(): Promise<void>
}

/**
 * Starts a Hardhat chain in this process, served over HTTP and WebSocket. Chains are independent of each other.
 *
 * @throws Error with the code EADDRINUSE (or EACCES, …) if it cannot listen at the port
 */
export async function startChain(options: ChainOptions = {}): Promise<RunningChain> {
  // Hardhat reports its use over the network unless told not to.
  process.env['HARDHAT_DISABLE_TELEMETRY'] ??= 'true'
  const host = options.host ?? '127.0.0.1'
  const port = options.port ?? 0
  // Hardhat's server does not hand on the error of a busy port: it would end the process.
  await assertPortIsFree(port, host)

  const hre = await createHardhatRuntimeEnvironment(hardhatConfig, {}, import.meta.dirname)
  const connections: Pick<NetworkConnection, 'provider' | 'close'>[] = []
  // The only way to the connection that createServer opens.
  hre.hooks.registerHandlers('network', {
    newConnection: async (context, next) => {
      const connection = await next(context)
      connections.push(connection)
      return connection
    },
  })
  const { chainId, hardfork } = options
  const override = { ...(chainId !== undefined && { chainId }), ...(hardfork !== undefined && { hardfork }) }
  const server = await hre.network.createServer({ network: 'automine', override }, host, port)
  const connection = connections[0]
  if (!connection) throw new Error('Hardhat opened no connection')
  const { provider } = connection
  const { port: boundPort } = await server.listen()
  if (options.blockTimeSeconds !== undefined) await setBlockTime(provider, options.blockTimeSeconds)

  return {
    rpcUrl: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`,
    chainId: Number(await provider.request({ method: 'eth_chainId' })),
    accounts: testAccounts(),
    provider,
    close: async () => {
      await server.close()
      await connection.close()
    },
  }
}

/** Turns a chain of a block per transaction into one of a block every so many seconds. */
export async function setBlockTime(provider: Eip1193Provider, seconds: number): Promise<void> {
  await provider.request({ method: 'evm_setAutomine', params: [false] })
  await provider.request({ method: 'evm_setIntervalMining', params: [Math.round(seconds * 1000)] })
}

function testAccounts(): RunningChain['accounts'] {
  const root = HDNodeWallet.fromPhrase(TEST_MNEMONIC, undefined, "m/44'/60'/0'/0")
  return Array.from({ length: ACCOUNT_COUNT }, (_, index) => {
    const { address, privateKey } = root.deriveChild(index)
    return { address, privateKey }
  })
}

/** A signer for one of the chain's test accounts, connected to the node in this process. */
export function testSigner(chain: RunningChain, index = 0): Wallet {
  const account = chain.accounts[index]
  if (!account) throw new RangeError(`the chain has no account ${index}`)
  return new Wallet(account.privateKey, connect(chain))
}

/** An ethers provider on the node in this process; it remembers nothing, so that what it reads is never stale. */
export function connect(chain: RunningChain): BrowserProvider {
  return new BrowserProvider(chain.provider, chain.chainId, { cacheTimeout: -1, staticNetwork: true })
}

/**
 * Tells a port that is taken before anything is started for it.
 *
 * @param port 0: any that is free, so there is always one
 * @throws Error with the code EADDRINUSE (or EACCES, EADDRNOTAVAIL)
 */
export async function assertPortIsFree(port: number, host: string): Promise<void> {
  if (port === 0) return
  const probe = createServer().listen(port, host)
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
}
