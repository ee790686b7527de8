import type { Upstream } from '../node/upstream.ts'

interface LatestBlock {
  readonly number: bigint
  /** By the clock of this machine; 0 for a block of the future. */
  readonly ageSeconds: number
}

/** The latest block that the node has. @throws as the upstream does */
export async function readLatestBlock(upstream: Pick<Upstream, 'request'>, nowMs: number): Promise<LatestBlock> {
  const latest = ['latest', false] as const
  const block = await upstream.request<{ number: string; timestamp: string }>('eth_getBlockByNumber', latest)
  const ageSeconds = Math.max(0, Math.floor(nowMs / 1000) - Number(block.timestamp))
  return { number: BigInt(block.number), ageSeconds }
}
