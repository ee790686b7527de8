import { hexlify } from 'ethers'
import { clauses } from '../../../specs/index.ts'
import { randomBytes } from '../world.ts'

/** The first example of EIP-55 in checksummed case. No contract and no coin need be at this address. */
export const sampleAddress = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

/** 32 random bytes, which no transaction, block or topic has. */
export function unknownHash(): string {
  return hexlify(randomBytes(32))
}

/** 20 random bytes, an address where nothing is. */
export function unknownAddress(): string {
  return hexlify(randomBytes(20))
}

/** No Ethereum node and no document knows this method. */
export const inventedMethod = 'touchstone_noSuchMethod'

/** The methods that the document lists. A service supports no others. */
const listedMethods = [
  'eth_blockNumber',
  'eth_chainId',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getLogs',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
] as const

export type ListedMethod = (typeof listedMethods)[number]

/** The listed methods without parameters. */
export const methodsWithoutParameters = [
  'eth_chainId',
  'eth_blockNumber',
  'eth_gasPrice',
  'eth_maxPriorityFeePerGas',
] as const satisfies readonly ListedMethod[]

/**
 * Methods that the document does not list, with parameters for which nodes serve them. No request of these changes
 * anything.
 */
export type UnlistedMethods = Readonly<Record<string, readonly unknown[]>>

/** A transaction for chain 0x7fffffff, which is nobody's, by a key that holds no coin. A node refuses it as well. */
export const foreignTransaction =
  '0xf86480843b9aca00825208945aaeb6053f3e94c9b9a09f33669435e7ef1beaed808085010000002180' +
  'a01111111111111111111111111111111111111111111111111111111111111111' +
  'a02222222222222222222222222222222222222222222222222222222222222222'

const call = { to: sampleAddress, data: '0x' }
const latest = 'latest'
const topic = `0x${'0'.repeat(64)}`
/** An account that no node has the key of, and that holds no coin. */
const nobody = `0x${'7'.repeat(40)}`
const filter = { address: sampleAddress, fromBlock: latest, toBlock: latest }

/** Hashes that the chain knows: of a transaction and of its block. */
export interface KnownHashes {
  readonly transaction: string
  readonly block: string
}

/**
 * Leaves out the methods that have a clause of their own. Such a clause binds only who serves the method, so serving
 * it is no fault.
 */
function withoutOwnClauses(methods: UnlistedMethods): UnlistedMethods {
  const ids = Object.keys(clauses)
  const hasOwn = (method: string): boolean => ids.some((id) => id.startsWith(`eth-rpc.${method}.`))
  return Object.fromEntries(Object.entries(methods).filter(([method]) => !hasOwn(method)))
}

/** The methods that every client knows. The suite tries each on its own. */
export const usualMethods = withoutOwnClauses({
  eth_syncing: [],
  net_version: [],
  eth_accounts: [],
  eth_call: [call, latest],
  eth_getBlockByNumber: [latest, false],
  eth_getTransactionCount: [sampleAddress, latest],
  web3_clientVersion: [],
  eth_sendRawTransaction: [foreignTransaction],
  [inventedMethod]: [],
})

/** The other methods of the execution-apis. None of them changes the chain. */
function ethMethods({ transaction, block }: KnownHashes): UnlistedMethods {
  return {
    eth_baseFee: [],
    eth_blobBaseFee: [],
    eth_capabilities: [],
    eth_coinbase: [],
    eth_config: [],
    eth_createAccessList: [call, latest],
    eth_estimateGas: [call],
    eth_feeHistory: ['0x1', latest, []],
    eth_getAccount: [sampleAddress, latest],
    eth_getBlockByHash: [block, false],
    eth_getBlockReceipts: [latest],
    eth_getBlockTransactionCountByHash: [block],
    eth_getBlockTransactionCountByNumber: [latest],
    eth_getCode: [sampleAddress, latest],
    eth_getCompilers: [],
    eth_getFilterChanges: ['0x1'],
    eth_getFilterLogs: ['0x1'],
    eth_getHeaderByHash: [block],
    eth_getHeaderByNumber: [latest],
    eth_getProof: [sampleAddress, [], latest],
    eth_getRawTransactionByHash: [transaction],
    eth_getStorageAt: [sampleAddress, '0x0', latest],
    eth_getTransactionByBlockHashAndIndex: [block, '0x0'],
    eth_getTransactionByBlockNumberAndIndex: [latest, '0x0'],
    eth_getTransactionBySenderAndNonce: [sampleAddress, '0x0'],
    eth_getUncleByBlockHashAndIndex: [block, '0x0'],
    eth_getUncleByBlockNumberAndIndex: [latest, '0x0'],
    eth_getUncleCountByBlockHash: [block],
    eth_getUncleCountByBlockNumber: [latest],
    eth_getWork: [],
    eth_hashrate: [],
    eth_mining: [],
    eth_multicall: [[call], latest],
    // A node forgets a filter that nobody asks for.
    eth_newBlockFilter: [],
    eth_newFilter: [filter],
    eth_newPendingTransactionFilter: [],
    eth_pendingTransactions: [],
    eth_protocolVersion: [],
    // No node has the key of this account.
    eth_sendTransaction: [{ from: nobody, to: nobody, value: '0x0' }],
    eth_sign: [nobody, '0x'],
    eth_signTransaction: [{ from: nobody, to: nobody, value: '0x0', gas: '0x5208', gasPrice: '0x0', nonce: '0x0' }],
    eth_simulateV1: [{ blockStateCalls: [] }, latest],
    eth_uninstallFilter: ['0x7fffffffffffffff'],
  }
}

/** The methods of common nodes beyond the prefix `eth_`. None of them changes the node. */
function nodeMethods({ transaction, block }: KnownHashes): UnlistedMethods {
  return {
    net_listening: [],
    net_peerCount: [],
    net_enode: [],
    web3_sha3: ['0x'],
    rpc_modules: [],
    rpc_discover: [],
    admin_nodeInfo: [],
    admin_peers: [],
    admin_datadir: [],
    txpool_content: [],
    txpool_contentFrom: [sampleAddress],
    txpool_inspect: [],
    txpool_status: [],
    debug_getBadBlocks: [],
    debug_getRawBlock: [latest],
    debug_getRawHeader: [latest],
    debug_getRawReceipts: [latest],
    debug_getRawTransaction: [transaction],
    debug_traceCall: [call, latest, {}],
    debug_traceTransaction: [transaction, { tracer: 'callTracer' }],
    debug_storageRangeAt: [block, 0, sampleAddress, topic, 1],
    trace_block: [latest],
    trace_call: [call, ['trace'], latest],
    trace_filter: [{ fromBlock: latest, toBlock: latest, count: 1 }],
    trace_get: [transaction, ['0x0']],
    trace_replayTransaction: [transaction, ['trace']],
    trace_transaction: [transaction],
    engine_exchangeCapabilities: [[]],
    engine_getClientVersionV1: [{ code: 'TS', name: 'touchstone', version: '1', commit: '00000000' }],
    engine_getPayloadBodiesByRangeV1: ['0x1', '0x1'],
    erigon_blockNumber: [latest],
    erigon_forks: [],
    erigon_getHeaderByNumber: [latest],
    erigon_getLogsByHash: [block],
    ots_getApiLevel: [],
    ots_hasCode: [sampleAddress, latest],
    ots_getBlockDetails: [latest],
    parity_chain: [],
    parity_enode: [],
    parity_pendingTransactions: [],
    parity_versionInfo: [],
    bor_getAuthor: [latest],
    clique_getSigners: [latest],
    hardhat_metadata: [],
    anvil_nodeInfo: [],
    personal_listAccounts: [],
    miner_getHashrate: [],
    les_serverInfo: [],
    shh_version: [],
    db_getString: ['touchstone', 'touchstone'],
    zks_L1ChainId: [],
    optimism_syncStatus: [],
  }
}

/** Every method beyond the list that a common node may have and that only reads. */
export function otherMethods(hashes: KnownHashes): UnlistedMethods {
  return withoutOwnClauses({ ...ethMethods(hashes), ...nodeMethods(hashes), eth_subscribe: ['touchstone'] })
}

/** Parameters for which a node serves the listed method. */
const listedParams: Readonly<Record<(typeof listedMethods)[number], (hashes: KnownHashes) => readonly unknown[]>> = {
  eth_blockNumber: () => [],
  eth_chainId: () => [],
  eth_gasPrice: () => [],
  eth_getBalance: () => [sampleAddress, latest],
  eth_getLogs: () => [filter],
  eth_getTransactionByHash: ({ transaction }) => [transaction],
  eth_getTransactionReceipt: ({ transaction }) => [transaction],
  eth_maxPriorityFeePerGas: () => [],
}

/**
 * Names near those of the list: in another case, with white space, without the prefix, with another prefix, or
 * longer.
 */
export function nearNames(hashes: KnownHashes): UnlistedMethods {
  return Object.fromEntries(
    listedMethods.flatMap((method) => {
      const bare = method.slice('eth_'.length)
      const names = [method.toLowerCase(), method.toUpperCase(), `ETH_${bare}`, `Eth_${bare}`, bare, `web3_${bare}`]
      const others = [
        ...names,
        ` ${method}`,
        `${method} `,
        `${method}s`,
        `eth.${bare}`,
        `eth_${bare[0]?.toUpperCase()}${bare.slice(1)}`,
      ]
      return others.map((name) => [name, listedParams[method](hashes)])
    }),
  )
}
