import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../conformance/altered/environment.ts'
import type { Fixture } from '../../conformance/index.ts'
import { writePrivateJson } from '../private-json.ts'
import { startTestbed, type Testbed } from '../testbed.ts'
import { letStrangersIn } from './strangers.ts'

/** A testbed for the suite: what an altered server stands in front of. */
export interface Ground {
  readonly relayUrl: string
  readonly fixture: Fixture
  readonly fixtureFile: string
}

export interface Testbeds {
  /** Works on the testbed of an environment: the same one for the same environment, ended after its last use. */
  use<T>(environment: Environment, work: (ground: Ground) => Promise<T>): Promise<T>
  close(): Promise<void>
}

interface Running {
  readonly ground: Ground
  close(): Promise<void>
}

/** What of an environment makes another testbed. */
export function testbedKey({ chain = {}, server = {} }: Environment): string {
  return JSON.stringify([chain, server])
}

async function start({ chain = {}, server = {} }: Environment): Promise<Running> {
  const { blockTimeSeconds, strangers, withoutLogs, emptyBlocks = 0, chainId, hardfork } = chain
  const stateDir = await mkdtemp(join(tmpdir(), 'touchstone-prove-'))
  const testbed: Testbed = await startTestbed({
    // On a machine that does much at a time, a node that is slow is no news.
    config: { chain: { requestTimeoutMs: 60_000 }, ...server },
    chain: { ...(chainId !== undefined && { chainId }), ...(hardfork !== undefined && { hardfork }) },
    ...(blockTimeSeconds !== undefined && { blockTimeSeconds }),
  })
  if (emptyBlocks > 0) {
    await testbed.chain.provider.request({ method: 'hardhat_mine', params: [`0x${emptyBlocks.toString(16)}`] })
  }
  const sendAway = strangers ? letStrangersIn(testbed) : undefined
  const { logs, ...others } = testbed.fixture
  const fixture: Fixture = withoutLogs ? others : { ...others, logs }
  const fixtureFile = join(stateDir, 'fixture.json')
  await writePrivateJson(fixtureFile, fixture)
  return {
    ground: { relayUrl: testbed.relayUrl, fixture, fixtureFile },
    async close() {
      await sendAway?.()
      await testbed.close()
      await rm(stateDir, { recursive: true, force: true })
    },
  }
}

/** @param environments one for each use to come: they say when a testbed is used for the last time */
export function createTestbeds(environments: readonly Environment[]): Testbeds {
  const uses = new Map<string, number>()
  for (const key of environments.map(testbedKey)) uses.set(key, (uses.get(key) ?? 0) + 1)
  const running = new Map<string, Promise<Running>>()

  async function end(key: string): Promise<void> {
    const found = running.get(key)
    running.delete(key)
    await (await found)?.close()
  }

  return {
    async use(environment, work) {
      const key = testbedKey(environment)
      const found = running.get(key) ?? start(environment)
      running.set(key, found)
      try {
        return await work((await found).ground)
      } finally {
        const left = (uses.get(key) ?? 1) - 1
        uses.set(key, left)
        if (left <= 0) await end(key)
      }
    },
    async close() {
      await Promise.allSettled([...running.keys()].map(end))
    },
  }
}
