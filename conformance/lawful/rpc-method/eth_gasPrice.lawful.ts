import { defineLawful } from '../../altered/define.ts'
import { alterResult } from '../../altered/lib/rpc.ts'

const average = 'eth-rpc 4: "the average gas price per gas": over which blocks, and how, is not shown'

function price(id: string, alter: (wei: bigint) => bigint) {
  return defineLawful({
    id,
    clauses: ['eth-rpc.eth_gasPrice.success'],
    allowedBy: average,
    rpc: alterResult('eth_gasPrice', (wei) => `0x${alter(BigInt(String(wei))).toString(16)}`),
  })
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
    }),
  ),
]
