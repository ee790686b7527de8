/** The methods that the document lists; all others are unsupported. */
export const listedMethods = [
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

/** Those that take no parameters. */
export const methodsWithoutParameters = [
  'eth_chainId',
  'eth_blockNumber',
  'eth_gasPrice',
  'eth_maxPriorityFeePerGas',
] as const satisfies readonly ListedMethod[]
