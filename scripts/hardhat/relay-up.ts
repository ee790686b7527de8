import { once } from 'node:events'
import type { NewTaskActionFunction } from 'hardhat/types/tasks'
import { writePrivateJson } from '../../testbed/fixture.ts'
import { startRelay } from './start-relay.ts'

const FIXTURE_FILE = '.touchstone/testbed.json'

/** The task `relay:up`: leaves the fixture where the commands `check` and `sign` look for it. */
const relayUp: NewTaskActionFunction<{ readonly port: number }> = async ({ port }, hre) => {
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  const relay = await startRelay(hre, { port })
  await writePrivateJson(FIXTURE_FILE, relay.fixture)
  console.log(`relay    ${relay.relayUrl}`)
  console.log(`chain    ${relay.rpcUrl}`)
  console.log(`profile  ${relay.fixture.profile.address}`)
  console.log(`fixture  ${FIXTURE_FILE}   holds the keys of test accounts`)
  await stopped
  await relay.close()
}

export default relayUp
