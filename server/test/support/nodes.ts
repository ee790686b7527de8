import { JsonRpcProvider, Wallet } from 'ethers'
import { startChain } from '../../../contracts/chain.ts'
import { startAnvil as startAnvilProcess } from '../../../testbed/test/support/nodes.ts'

/** A real development node of its own for a test. */
export interface TestNode {
  readonly name: 'hardhat' | 'anvil'
  readonly rpcUrl: string
  /** Asks the node itself, past everything that is tested. @throws Error with the node's code */
  request<Result = unknown>(method: string, ...params: unknown[]): Promise<Result>
  /** The first of the well-known accounts; both nodes have the same. */
  readonly wallet: Wallet
  readonly accounts: readonly string[]
  close(): Promise<void>
}

/** The kinds of nodes that the methods are tested in front of. */
export const nodeKinds: Readonly<Record<TestNode['name'], () => Promise<TestNode>>> = {
  hardhat: startHardhat,
  anvil: startAnvil,
}

/** Known to everyone: the first account of the test mnemonic. */
const FIRST_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

async function startHardhat(): Promise<TestNode> {
  const chain = await startChain()
  return describeNode('hardhat', chain.rpcUrl, () => chain.close())
}

async function startAnvil(): Promise<TestNode> {
  const anvil = await startAnvilProcess('--gas-limit', '100000000')
  return describeNode('anvil', anvil.rpcUrl, () => anvil.close())
}

async function describeNode(name: TestNode['name'], rpcUrl: string, close: () => Promise<void>): Promise<TestNode> {
  const provider = new JsonRpcProvider(rpcUrl, undefined, { staticNetwork: true, batchMaxCount: 1, cacheTimeout: -1 })
  const request = async <Result>(method: string, ...params: unknown[]): Promise<Result> => {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as { result: Result; error?: { code: number; message: string } }
    if (error) throw Object.assign(new Error(error.message), { code: error.code })
    return result
  }
  return {
    name,
    rpcUrl,
    request,
    wallet: new Wallet(FIRST_KEY, provider),
    accounts: await request<string[]>('eth_accounts'),
    close: async () => {
      provider.destroy()
      await close()
    },
  }
}
