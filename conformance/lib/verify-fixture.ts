import type { ChainTruth } from './chain-truth.ts'
import type { Account, Fixture } from './fixture.ts'
import { readData, readOwner } from './relay/profile.ts'

/** LSP6: `AddressPermissions:Permissions:<address>`. */
const permissionsKeyPrefix = '0x4b80742de2bf82acb3630000'
/** LSP6 permission bits. */
const permissions = { SIGN: 0x200000n, EXECUTE_RELAY_CALL: 0x400000n } as const

async function holds(chain: ChainTruth, profile: string, controller: Account): Promise<(keyof typeof permissions)[]> {
  const value = await readData(chain, profile, `${permissionsKeyPrefix}${controller.address.slice(2).toLowerCase()}`)
  const bits = BigInt(value === '0x' ? 0 : value)
  return (['SIGN', 'EXECUTE_RELAY_CALL'] as const).filter((name) => (bits & permissions[name]) !== 0n)
}

/**
 * Whether the chain is as the fixture says: what rests on a wrong fixture would be blamed on the target.
 * @returns what does not fit, in one line; undefined when all fits
 * @throws Untestable when the node does not answer
 */
export async function verifyFixture(chain: ChainTruth, fixture: Fixture): Promise<string | undefined> {
  const { profile, controllers } = fixture
  for (const [name, address] of Object.entries(profile)) {
    if ((await chain.send('eth_getCode', [address, 'latest'])) === '0x')
      return `there is no contract at ${name} ${address}`
  }
  const owner = await readOwner(chain, profile.address)
  if (owner.toLowerCase() !== profile.keyManager.toLowerCase()) return `the owner of the profile is ${owner}`
  const expected = { full: 'SIGN,EXECUTE_RELAY_CALL', noSign: 'EXECUTE_RELAY_CALL', noRelay: 'SIGN' } as const
  for (const name of ['full', 'noSign', 'noRelay'] as const) {
    const held = (await holds(chain, profile.address, controllers[name])).join()
    if (held !== expected[name])
      return `the controller ${name} holds ${held || 'neither'} of SIGN and EXECUTE_RELAY_CALL`
  }
  return undefined
}
