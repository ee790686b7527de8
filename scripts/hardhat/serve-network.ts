import type { HardhatRuntimeEnvironment } from 'hardhat/types/hre'
import type { NetworkConnection } from 'hardhat/types/network'

export interface ServedNetwork {
  readonly rpcUrl: string
  close(): Promise<void>
}

/** As a real node does: a reverted transaction is no error of sending, and blocks keep to the clock. */
const nodeBehaviour = { throwOnTransactionFailures: false, allowBlocksWithSameTimestamp: true } as const

/**
 * The URL of the network that `--network` names, or of the default one. A simulated network is started in this process
 * and served on a free port, with the project's own settings.
 */
export async function serveNetwork(hre: HardhatRuntimeEnvironment): Promise<ServedNetwork> {
  const name = hre.globalOptions.network ?? 'default'
  const config = hre.config.networks[name]
  if (config?.type === 'http') return { rpcUrl: await config.url.getUrl(), close: async () => undefined }

  const connections: Pick<NetworkConnection, 'close'>[] = []
  // Hardhat gives access to the connection of createServer in this way only.
  hre.hooks.registerHandlers('network', {
    newConnection: async (context, next) => {
      const connection = await next(context)
      connections.push(connection)
      return connection
    },
  })
  const server = await hre.network.createServer({ network: name, override: nodeBehaviour }, '127.0.0.1', 0)
  const { address, port } = await server.listen()
  return {
    rpcUrl: `http://${address}:${port}`,
    close: async () => {
      await server.close()
      for (const connection of connections) await connection.close()
    },
  }
}
