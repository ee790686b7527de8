import { defineMutant } from '../../altered/define.ts'
import { alterFilter, alterResult } from '../../altered/lib/rpc.ts'

export default [
  defineMutant({
    clause: 'eth-rpc.eth_getLogs.success',
    fault: 'the last log is left out where there are several',
    rpc: alterResult('eth_getLogs', (logs) =>
      Array.isArray(logs) && logs.length > 1 && logs.length < 1000 ? logs.slice(0, -1) : logs,
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.success',
    name: 'data',
    fault: 'logs with altered data',
    rpc: alterResult('eth_getLogs', (logs) =>
      (logs as Record<string, unknown>[]).map((log) => ({ ...log, data: `${String(log['data'])}00` })),
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.success',
    name: 'open-range',
    fault: 'the last block of a range is left out of it',
    rpc: alterFilter((filter) => {
      const { fromBlock, toBlock } = filter
      if (!String(toBlock).startsWith('0x') || fromBlock === toBlock) return filter
      return { ...filter, toBlock: `0x${(BigInt(String(toBlock)) - 1n).toString(16)}` }
    }),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.filter-fields',
    fault: 'topics beyond the first are ignored',
    rpc: alterFilter(({ topics, ...others }) => ({
      ...others,
      topics: Array.isArray(topics) ? (topics as unknown[]).slice(0, 1) : topics,
    })),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.filter-fields',
    name: 'addresses',
    fault: 'of several addresses only the first counts',
    rpc: alterFilter(({ address, ...others }) => ({
      ...others,
      address: Array.isArray(address) ? (address as unknown[])[0] : address,
    })),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.order',
    fault: 'the first two entries of a page change places',
    rpc: alterResult('eth_getLogs', (logs) => {
      if (!Array.isArray(logs) || logs.length < 1000) return logs
      const [first, second, ...others] = logs as unknown[]
      return [second, first, ...others]
    }),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.result-schema',
    fault: 'the index of the transaction is a JSON number',
    rpc: alterResult('eth_getLogs', (logs) =>
      (logs as Record<string, unknown>[]).map((log) => ({ ...log, transactionIndex: Number(log['transactionIndex']) })),
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.bad-params',
    fault: 'topics that are no list are left out of the filter',
    rpc: alterFilter(({ topics, ...others }) => ({
      ...others,
      topics: Array.isArray(topics) ? topics : undefined,
    })),
  }),
]
