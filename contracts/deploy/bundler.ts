import { concat, getAddress, getBytes, hexlify, Interface, toBeHex } from 'ethers'
import { loadArtifact } from '../artifacts.ts'
import type { Sender } from './sender.ts'

export const bundlerInterface = new Interface([
  'error Malformed()',
  'event Bundled(bytes results)',
  'function execute(bytes calls)',
])

/** One call of a bundle. */
export interface BundlerCall {
  readonly to: string
  readonly gasLimit: bigint
  readonly data: string
}

/** The result of one call of a bundle. */
export interface BundlerResult {
  readonly success: boolean
  readonly gasUsed: bigint
}

/** Deploys the contract that makes several calls in one transaction. @returns its address */
export async function deployBundler(sender: Sender): Promise<string> {
  const { bytecode } = await loadArtifact('Bundler')
  const { address, deployed } = sender.deploy(bytecode)
  await deployed
  return address
}

/** Call data of a bundle, as `Bundler.sol` describes it. */
export function encodeBundle(calls: readonly BundlerCall[]): string {
  const records = calls.map(({ to, gasLimit, data }) =>
    concat([to, toBeHex(gasLimit, 8), toBeHex((data.length - 2) / 2, 4), data]),
  )
  return bundlerInterface.encodeFunctionData('execute', [concat(records)])
}

/** The calls of a bundle, read from its call data. Undefined for other call data. */
export function decodeBundle(data: string): BundlerCall[] | undefined {
  const parsed = bundlerInterface.parseTransaction({ data })
  if (!parsed) return undefined
  const bytes = Buffer.from(getBytes(parsed.args[0] as string))
  const calls: BundlerCall[] = []
  for (let at = 0; at < bytes.length;) {
    const end = at + 32 + bytes.readUInt32BE(at + 28)
    const [to, code] = [bytes.subarray(at, at + 20), bytes.subarray(at + 32, end)]
    calls.push({ to: getAddress(hexlify(to)), gasLimit: bytes.readBigUInt64BE(at + 20), data: hexlify(code) })
    at = end
  }
  return calls
}

/** The results in the last event of the bundler, which are those of the transaction. @returns undefined without an event */
export function bundleResults(
  {
    logs,
  }: {
    readonly logs: readonly { readonly address: string; readonly topics: readonly string[]; readonly data: string }[]
  },
  bundler: string,
): BundlerResult[] | undefined {
  const topic = bundlerInterface.getEvent('Bundled')?.topicHash
  const last = logs.filter((log) => getAddress(log.address) === bundler && log.topics[0] === topic).at(-1)
  if (!last) return undefined
  const bytes = getBytes(bundlerInterface.parseLog(last)?.args[0] as string)
  return Array.from({ length: bytes.length / 8 }, (_, at) => {
    const [flag = 0, ...gas] = bytes.slice(at * 8, at * 8 + 8)
    return { success: flag === 1, gasUsed: BigInt(`0x${Buffer.from(gas).toString('hex')}`) }
  })
}
