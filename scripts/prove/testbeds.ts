import { join } from 'node:path'
import type { ServerEnvironment } from '../../conformance/altered/define.ts'
import type { Fixture } from '../../conformance/index.ts'
import { temporaryFolder } from '../../testbed/at-exit.ts'
import { writePrivateJson } from '../../testbed/fixture.ts'
import { startTestbed, type Testbed } from '../../testbed/testbed.ts'
import { logEmitterInterface } from '../../contracts/deploy/seeds.ts'

/** A testbed for the suite, in front of which an altered server stands. */
export interface Ground {
  readonly relayUrl: string
  readonly fixture: Fixture
  readonly fixtureFile: string
}

export interface Testbeds {
  /** Runs `work` on a testbed of this environment, which nobody else uses meanwhile. It is closed after its last use. */
  use<T>(environment: ServerEnvironment, work: (ground: Ground) => Promise<T>): Promise<T>
  close(): Promise<void>
}

interface Running {
  readonly ground: Ground
  close(): Promise<void>
}

/** Environments with the same key can use the same testbed. */
export function testbedKey({ chain = {}, server = {}, bundles = false }: ServerEnvironment): string {
  return JSON.stringify([chain, server, bundles])
}

async function start({ chain = {}, server = {}, bundles = false }: ServerEnvironment): Promise<Running> {
  const { blockTimeSeconds, strangers, withoutLogs, emptyBlocks = 0, chainId, hardfork } = chain
  const stateDir = temporaryFolder('prove')
  const testbed: Testbed = await startTestbed({
    // On a busy machine the node may be slow, and that is no fault.
    config: { chain: { requestTimeoutMs: 60_000 }, ...server },
    bundles,
    chain: { ...(chainId !== undefined && { chainId }), ...(hardfork !== undefined && { hardfork }) },
    ...(blockTimeSeconds !== undefined && { blockTimeSeconds }),
  })
  if (emptyBlocks > 0) {
    await testbed.chain.provider.request({ method: 'hardhat_mine', params: [`0x${emptyBlocks.toString(16)}`] })
  }
  const sendAway = strangers ? letStrangersIn(testbed) : undefined
  const { logs, ...others } = testbed.fixture
  const fixture: Fixture = withoutLogs ? others : { ...others, logs }
  const fixtureFile = join(stateDir.path, 'fixture.json')
  await writePrivateJson(fixtureFile, fixture)
  return {
    ground: { relayUrl: testbed.relayUrl, fixture, fixtureFile },
    async close() {
      await sendAway?.()
      await testbed.close()
      stateDir.remove()
    },
  }
}

/** The testbeds of one environment. */
interface Kind {
  /** Uses that are still to come, or under way. */
  left: number
  readonly idle: Running[]
}

/** @param environments one for each use to come: they say when a testbed is used for the last time */
export function createTestbeds(environments: readonly ServerEnvironment[]): Testbeds {
  const kinds = new Map<string, Kind>()
  const kindOf = (environment: ServerEnvironment): Kind => {
    const key = testbedKey(environment)
    const found = kinds.get(key) ?? { left: 0, idle: [] }
    kinds.set(key, found)
    return found
  }
  for (const environment of environments) kindOf(environment).left++

  const endIdle = ({ idle }: Kind) => Promise.all(idle.splice(0).map((running) => running.close()))

  return {
    async use(environment, work) {
      const kind = kindOf(environment)
      // Two runs on one testbed would wait for each other: their controllers take turns.
      const running = kind.idle.pop() ?? (await start(environment))
      try {
        return await work(running.ground)
      } finally {
        kind.left--
        kind.idle.push(running)
        // Those that are in use end with their last use.
        if (kind.left <= 0) await endIdle(kind)
      }
    },
    async close() {
      await Promise.allSettled([...kinds.values()].map(endIdle))
    },
  }
}

const pauseMs = 400

/**
 * Sends transactions from other accounts to the testbed's chain all the time: transfers, and logs of the seeded emitter in
 * blocks after the seeded ones.
 *
 * @returns a function that ends it
 */
function letStrangersIn({ chain, fixture }: Testbed): () => Promise<void> {
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
