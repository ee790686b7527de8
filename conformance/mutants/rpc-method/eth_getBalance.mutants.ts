import { defineMutant } from '../../altered/define.ts'
import { count } from '../../altered/lib/answers.ts'
import { alterParams, alterResult, headOf, paddedQuantity, sharedAtOnce } from '../../altered/lib/rpc.ts'

/** The balance with one wei more. */
const oneMore = (balance: unknown) => `0x${(BigInt(String(balance)) + 1n).toString(16)}`

export default [
  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    fault: 'a balance one wei too high',
    rpc: alterResult('eth_getBalance', oneMore),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    name: 'always-latest',
    fault: 'a block by its number is taken for the latest',
    rpc: alterParams('eth_getBalance', ([address, block, ...rest]) => [
      address,
      typeof block === 'string' && /^0x[0-9a-f]+$/i.test(block) ? 'latest' : block,
      ...rest,
    ]),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.result-schema',
    fault: 'a quantity with a leading zero',
    rpc: alterResult('eth_getBalance', paddedQuantity),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.bad-params',
    fault: 'a block that is neither number nor tag is taken for the latest',
    rpc: alterParams('eth_getBalance', ([address, block, ...rest]) => [
      address,
      block === 'newest' ? 'latest' : block,
      ...rest,
    ]),
  }),

  ...(
    [
      ['pending', 'the balance at "pending" is one wei too high', (block) => block === 'pending'],
      ['latest', 'the balance at "latest" is one wei too high', (block) => block === 'latest'],
      ['by-number', 'a balance at a block by its number is one wei too high', (block) => block.startsWith('0x')],
    ] as const satisfies readonly (readonly [string, string, (block: string) => boolean])[]
  ).map(([name, fault, isWrong]) =>
    defineMutant({
      clause: 'eth-rpc.eth_getBalance.success',
      name,
      fault,
      rpc: alterResult('eth_getBalance', (balance, { params }) =>
        Array.isArray(params) && isWrong(String(params[1])) ? oneMore(balance) : balance,
      ),
    }),
  ),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    name: 'pending-is-nothing',
    fault: 'the balance at "pending" is zero',
    rpc: alterResult('eth_getBalance', (balance, { params }) =>
      Array.isArray(params) && params[1] === 'pending' ? '0x0' : balance,
    ),
  }),

  ...([4n, 16n] as const).map((depth) =>
    defineMutant({
      clause: 'eth-rpc.eth_getBalance.success',
      name: `older-than-${depth}`,
      fault: `blocks more than ${depth} before the head are taken for the latest`,
      async rpc(request, forward, tools) {
        const head = BigInt(String(await tools.chain('eth_blockNumber')))
        return alterParams('eth_getBalance', ([address, block, ...rest]) => [
          address,
          typeof block === 'string' && /^0x[0-9a-f]+$/i.test(block) && BigInt(block) + depth < head ? 'latest' : block,
          ...rest,
        ])(request, forward, tools)
      },
    }),
  ),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    name: 'next-block',
    fault: 'a block by its number is the one after it',
    async rpc(request, forward, tools) {
      const head = BigInt(String(await tools.chain('eth_blockNumber')))
      return alterParams('eth_getBalance', ([address, block, ...rest]) => [
        address,
        typeof block === 'string' && /^0x[0-9a-f]+$/i.test(block) && BigInt(block) < head
          ? `0x${(BigInt(block) + 1n).toString(16)}`
          : block,
        ...rest,
      ])(request, forward, tools)
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    name: 'through-a-double',
    fault: 'balances are rounded through a double',
    rpc: alterResult('eth_getBalance', (balance) => `0x${BigInt(Number(balance)).toString(16)}`),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    name: 'stuck',
    fault: 'the first balance at "latest" that was asked for is answered ever after',
    whole: true,
    environment: { chain: { strangers: true } },
    async rpc(request, forward, tools) {
      return alterResult('eth_getBalance', (balance, { params }) => {
        const [address, block] = params as readonly unknown[]
        if (block !== 'latest') return balance
        const key = String(address).toLowerCase()
        if (!tools.memory.has(key)) tools.memory.set(key, balance)
        return tools.memory.get(key)
      })(request, forward, tools)
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    name: 'block-before',
    fault: 'a block by its number is the one before it',
    rpc: alterParams('eth_getBalance', ([address, block, ...rest]) => [
      address,
      typeof block === 'string' && /^0x[1-9a-f][0-9a-f]*$/i.test(block)
        ? `0x${(BigInt(block) - 1n).toString(16)}`
        : block,
      ...rest,
    ]),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    name: 'decimal-digits-as-hex',
    fault: 'the decimal digits of the balance stand behind 0x',
    rpc: alterResult('eth_getBalance', (balance) => `0x${BigInt(String(balance))}`),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    name: 'kept-by-block',
    fault: 'balances are kept for two seconds by their block alone, whatever the address',
    async rpc(request, forward, tools) {
      return alterResult('eth_getBalance', (balance, { params }) => {
        const block = String((params as readonly unknown[])[1])
        const kept = tools.memory.get(block) as { readonly atMs: number; readonly balance: unknown } | undefined
        if (kept && Date.now() - kept.atMs < 2000) return kept.balance
        tools.memory.set(block, { atMs: Date.now(), balance })
        return balance
      })(request, forward, tools)
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    name: 'now-and-then',
    fault: 'each third balance is one wei too high',
    rpc: (request, forward, tools) =>
      alterResult('eth_getBalance', (balance) => (count(tools, 'balance') % 3 === 2 ? oneMore(balance) : balance))(
        request,
        forward,
        tools,
      ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    name: 'shared-at-once',
    fault: 'requests for balances at the same time get the balance of the first',
    rpc: sharedAtOnce('eth_getBalance'),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    name: 'kept-by-address',
    fault: 'balances at numbers are kept for two seconds by their address alone, whatever the block',
    rpc: (request, forward, tools) =>
      alterResult('eth_getBalance', (balance, { params }) => {
        const [address, block] = params as readonly unknown[]
        const key = String(address).toLowerCase()
        const kept = tools.memory.get(key) as { readonly atMs: number; readonly balance: unknown } | undefined
        if (!String(block).startsWith('0x')) return balance
        if (kept && Date.now() - kept.atMs < 2000) return kept.balance
        tools.memory.set(key, { atMs: Date.now(), balance })
        return balance
      })(request, forward, tools),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    name: 'old-pending',
    fault: '"pending" is the block ten before the head',
    whole: true,
    async rpc(request, forward, tools) {
      const head = await headOf(tools)
      return alterParams('eth_getBalance', ([address, block, ...rest]) => [
        address,
        block === 'pending' && head > 10n ? `0x${(head - 10n).toString(16)}` : block,
        ...rest,
      ])(request, forward, tools)
    },
  }),
]
