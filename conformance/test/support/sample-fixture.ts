import type { Fixture } from '../../lib/fixture.ts'

const address = `0x${'11'.repeat(20)}`
const account = { address, privateKey: `0x${'22'.repeat(32)}` }

/** The smallest fixture. Its chain does not exist. */
export const sampleFixture: Fixture = {
  chain: { rpcUrl: 'http://127.0.0.1:8545', chainId: 31337 },
  profile: { address, keyManager: address },
  controllers: { full: account, noSign: account, noRelay: account },
}
