import { max } from '../../ethereum/bigint.ts'
import { isRaw } from '../../ethereum/quantity.ts'
import { rpcErrorKind, UpstreamRpcError, type Upstream, type UpstreamOptions } from './upstream.ts'

/** Asks the node again, with the options of the request that it could not serve as the standard says. */
type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>

/**
 * The same upstream, which makes up for what some nodes leave out of the standard (execution-apis), by what they do serve:
 * - a receipt without `effectiveGasPrice`, on chains without EIP-1559, gets the price that the transaction names;
 * - where the node does not serve `eth_maxPriorityFeePerGas`, it is what the gas price is above the base fee;
 * - where the node does not know the state of a pending block, a balance in it is the latest one.
 */
export function fillOmissions(upstream: Upstream): Upstream {
  return {
    ...upstream,
    request: async <Result>(method: string, params: readonly unknown[], options?: UpstreamOptions) => {
      const ask: Ask = (otherMethod, otherParams) => upstream.request(otherMethod, otherParams, options)
      const answer = upstream.request<Result>(method, params, options)
      switch (method) {
        case 'eth_getTransactionReceipt':
          return (await withPrice(await answer, params, ask)) as Result
        case 'eth_maxPriorityFeePerGas':
          return (await answer.catch((error: unknown) => priorityFee(error, ask))) as Result
        case 'eth_getBalance':
          return (await answer.catch((error: unknown) => latestBalance(error, params, ask))) as Result
        default:
          return answer
      }
    },
  }
}

const isLeftOut = (member: unknown) => member === undefined || member === null

async function withPrice(receipt: unknown, [hash]: readonly unknown[], ask: Ask): Promise<unknown> {
  if (!isRaw(receipt) || !isLeftOut(receipt['effectiveGasPrice'])) return receipt
  const transaction = await ask('eth_getTransactionByHash', [hash])
  const price = isRaw(transaction) ? transaction['gasPrice'] : undefined
  return isLeftOut(price) ? receipt : { ...receipt, effectiveGasPrice: price }
}

/**
 * The gas price of a node is what it suggests as a priority fee and the base fee together.
 *
 * @throws the error itself: the node is only busy, or the chain has no base fee, and so no priority fee
 */
async function priorityFee(error: unknown, ask: Ask): Promise<string> {
  if (!(error instanceof UpstreamRpcError) || rpcErrorKind(error) !== 'unserved') throw error
  const [block, gasPrice] = await Promise.all([ask('eth_getBlockByNumber', ['latest', false]), ask('eth_gasPrice', [])])
  const baseFee = isRaw(block) ? block['baseFeePerGas'] : undefined
  if (isLeftOut(baseFee)) throw error
  return `0x${max(BigInt(gasPrice as string) - BigInt(baseFee as string), 0n).toString(16)}`
}

/** @throws the error itself: the node is only busy, or asked for the state of another block */
async function latestBalance(error: unknown, [address, block]: readonly unknown[], ask: Ask): Promise<unknown> {
  const isUnknown = error instanceof UpstreamRpcError && rpcErrorKind(error) !== 'busy'
  if (block !== 'pending' || !isUnknown) throw error
  return ask('eth_getBalance', [address, 'latest'])
}
