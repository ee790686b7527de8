import { ServiceError } from '../../core/errors.ts'
import { isRaw } from '../../ethereum/quantity.ts'
import type { Upstream } from './upstream.ts'

type Check = (result: unknown, params: readonly unknown[]) => boolean

const isQuantity: Check = (value) =>
  typeof value === 'string' ? /^0x[0-9a-f]{1,64}$/i.test(value) : Number.isSafeInteger(value) && (value as number) >= 0
const isData: Check = (value) => typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value)

/** Whether a result is null, or an object in which each of these members, where it is there, is a quantity. */
const objectWith =
  (...quantities: readonly string[]): Check =>
  (value) =>
    value === null ||
    (isRaw(value) &&
      quantities.every((name) => value[name] === undefined || value[name] === null || isQuantity(value[name], [])))

const isBlock = objectWith('number', 'timestamp', 'baseFeePerGas', 'gasLimit')
const isReceipt = objectWith('blockNumber', 'gasUsed', 'effectiveGasPrice', 'status')

/** By method, what the server calculates with and therefore checks in a node's answer. */
const checks: Readonly<Record<string, Check>> = {
  eth_blockNumber: isQuantity,
  eth_call: isData,
  eth_chainId: isQuantity,
  eth_gasPrice: isQuantity,
  eth_getBalance: isQuantity,
  // A chain always has a latest block.
  eth_getBlockByNumber: (value, [block]) => isBlock(value, []) && !(value === null && block === 'latest'),
  eth_getLogs: (value) => Array.isArray(value),
  eth_getTransactionByHash: objectWith('blockNumber', 'nonce'),
  eth_getTransactionCount: isQuantity,
  eth_getTransactionReceipt: isReceipt,
  eth_maxPriorityFeePerGas: isQuantity,
}

/** Whether the server can calculate with a result of this call. */
export function isUsable(method: string, params: readonly unknown[], result: unknown): boolean {
  return checks[method]?.(result, params) ?? true
}

/** The same upstream; an answer of the wrong kind, such as `null` for a balance, is treated as no answer. */
export function checkResults(upstream: Upstream): Upstream {
  return {
    ...upstream,
    request: async <Result>(...[method, params, options]: Parameters<Upstream['request']>) => {
      const result = await upstream.request<Result>(method, params, options)
      if (isUsable(method, params, result)) return result
      const shown = (JSON.stringify(result) ?? 'nothing').slice(0, 60)
      throw new ServiceError('UPSTREAM_UNAVAILABLE', `the node answers ${method} with ${shown}`)
    },
  }
}
