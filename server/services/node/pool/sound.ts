import { isUsable } from '../check-results.ts'
import { isRaw, toData } from '../../../ethereum/quantity.ts'
import { toNodeBlock } from './heads.ts'

const isAt = (member: string, value: unknown, expected: unknown) =>
  value === null || (isRaw(value) && typeof value[member] === 'string' && toData(value[member]) === toData(expected))

type Check = (value: unknown, params: readonly unknown[]) => boolean

/** Whether it is what was asked for, where the question names it. */
const checks: Readonly<Record<string, Check>> = {
  eth_sendRawTransaction: (value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value),
  eth_getTransactionByHash: (value, [hash]) => isAt('hash', value, hash),
  eth_getTransactionReceipt: (value, [hash]) => isAt('transactionHash', value, hash),
  eth_getBlockByHash: (value, [hash]) => isAt('hash', value, hash),
  eth_getBlockByNumber: (value, [block]) => {
    if (value === null || block === 'pending') return true
    const found = toNodeBlock(value)
    return found !== undefined && (!/^0x/.test(String(block)) || found.number === Number(block))
  },
}

/** Whether a node's result can be one of this call at all: another node may do better than one that answers nonsense. */
export function isSound(method: string, params: readonly unknown[], result: unknown): boolean {
  return isUsable(method, params, result) && (checks[method]?.(result, params) ?? true)
}
