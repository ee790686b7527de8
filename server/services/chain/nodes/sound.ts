import { isRaw, toData, toQuantity } from '../project/quantity.ts'
import { toNodeBlock } from './heads.ts'

const isQuantity = (value: unknown) => /^0x(?:0|[1-9a-f][0-9a-f]*)$/.test(String(toQuantity(value)))
const isData = (value: unknown) => typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value)
const isAt = (member: string, value: unknown, expected: unknown) =>
  isRaw(value) && typeof value[member] === 'string' && toData(value[member]) === toData(expected)

type Check = (value: unknown, params: readonly unknown[]) => boolean

const checks: Readonly<Record<string, Check>> = {
  eth_blockNumber: isQuantity,
  eth_chainId: isQuantity,
  eth_gasPrice: isQuantity,
  eth_maxPriorityFeePerGas: isQuantity,
  eth_getBalance: isQuantity,
  eth_getTransactionCount: isQuantity,
  eth_estimateGas: isQuantity,
  eth_call: isData,
  eth_getCode: isData,
  eth_getStorageAt: isData,
  eth_sendRawTransaction: (value) => isData(value) && String(value).length === 66,
  eth_getLogs: (value) => Array.isArray(value) && value.every(isRaw),
  eth_getTransactionByHash: (value, [hash]) => value === null || isAt('hash', value, hash),
  eth_getTransactionReceipt: (value, [hash]) => value === null || isAt('transactionHash', value, hash),
  eth_getBlockByHash: (value, [hash]) => value === null || isAt('hash', value, hash),
  eth_getBlockByNumber: (value, [block]) => {
    if (value === null || block === 'pending') return true
    const found = toNodeBlock(value)
    return found !== undefined && (!isQuantity(block) || found.number === Number(block))
  },
}

/** Whether a node's result can be one of this call at all: another node may do better than one that answers nonsense. */
export function isSound(method: string, params: readonly unknown[], result: unknown): boolean {
  return checks[method]?.(result, params) ?? true
}
