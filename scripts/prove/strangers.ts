import { logEmitterInterface } from '../../contracts/deploy/seeds.ts'
import type { Testbed } from '../../testbed/testbed.ts'

const pauseMs = 400

/**
 * Lets somebody else send transactions to the testbed's chain all the time: coin that goes around, and logs of the same
 * emitter, in blocks after the seeded ones.
 *
 * @returns what ends it
 */
export function letStrangersIn({ chain, fixture }: Testbed): () => Promise<void> {
  const from = chain.accounts[10]?.address
  const to = chain.accounts[11]?.address
  const logs = { from, to: fixture.logs?.emitter, data: logEmitterInterface.encodeFunctionData('emitLogs', [3]) }
  const coin = { from, to, value: '0x1' }
  let ended = false
  const work = (async () => {
    for (let turn = 0; !ended; turn++) {
      const params = [turn % 3 === 0 && fixture.logs ? logs : coin]
      await chain.provider.request({ method: 'eth_sendTransaction', params })
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  })()
  return async () => {
    ended = true
    await work
  }
}
