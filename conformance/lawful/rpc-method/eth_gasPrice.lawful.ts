import { isHexString } from 'ethers'
import { defineLawful, respond, type Handler } from '../../altered/define.ts'
import { alterResult, type RpcBody } from '../../altered/lib/rpc.ts'

const average = 'eth-rpc 4: "the average gas price per gas": over which blocks, and how, is not shown'

function price(id: string, alter: (wei: bigint) => bigint) {
  return defineLawful({
    id,
    clauses: ['eth-rpc.eth_gasPrice.success'],
    allowedBy: average,
    rpc: alterResult('eth_gasPrice', (wei) => `0x${alter(BigInt(String(wei))).toString(16)}`),
  })
}

const receiptSchema = 'eth-rpc.eth_getTransactionReceipt.result-schema'

/** Before EIP-1559 a receipt needs no effective price. The reference server hands on no receipt without one. */
const receiptsOfTheNode: Handler = async (request, forward, { chain }) => {
  const { method, params, id } = (request.json ?? {}) as RpcBody
  const [hash, ...others] = Array.isArray(params) ? (params as unknown[]) : []
  const isAsked = method === 'eth_getTransactionReceipt' && isHexString(hash, 32) && others.length === 0
  return isAsked ? respond(200, { jsonrpc: '2.0', id, result: await chain(method, [hash]) }) : forward(request)
}

const gwei = 1_000_000_000n

export default [
  price('rounds-the-price-up-to-gwei', (wei) => ((wei + gwei - 1n) / gwei) * gwei),
  price('adds-a-tenth-to-the-price', (wei) => (wei * 11n) / 10n),
  price('doubles-the-price', (wei) => wei * 2n),
  price('has-two-thirds-of-the-price', (wei) => (wei * 2n) / 3n),
  ...(['london', 'berlin', 'shanghai'] as const).map((hardfork) =>
    defineLawful({
      id: `runs-on-a-chain-of-${hardfork}`,
      clauses: [
        'eth-rpc.eth_gasPrice.success',
        'eth-rpc.eth_maxPriorityFeePerGas.success',
        'eth-rpc.eth_getTransactionByHash.success',
        'eth-rpc.eth_getTransactionReceipt.success',
      ],
      allowedBy: 'neither document names a fork of the chain',
      environment: { chain: { hardfork } },
      ...(hardfork === 'berlin' && { rpc: receiptsOfTheNode, mayFail: [receiptSchema] }),
    }),
  ),
]
