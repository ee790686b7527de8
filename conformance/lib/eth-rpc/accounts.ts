import { getAddress } from 'ethers'
import type { CheckContext } from '../context.ts'
import { Untestable } from '../outcome.ts'
import { knownTransactions } from './known-transactions.ts'
import { sampleAddress } from './samples.ts'

/**
 * Addresses of accounts that are likely to hold something: senders of mined transactions, and those of the fixture.
 *
 * @returns possibly none
 */
export async function accountsOf(t: CheckContext): Promise<string[]> {
  const senders = await knownTransactions(t).then(
    (known) => known.flatMap(({ fields }) => (typeof fields['from'] === 'string' ? [fields['from']] : [])),
    (error: unknown) => {
      if (error instanceof Untestable) return []
      throw error
    },
  )
  return [...new Set([...senders, ...fixtureAccounts(t)])]
}

/**
 * An address whose balance every service can tell, in checksummed case: of an account that has sent something, where one
 * is known. What is answered for an address that the chain has never seen, the document does not say.
 */
export async function accountOf(t: CheckContext): Promise<string> {
  const [account = sampleAddress] = await accountsOf(t)
  return getAddress(account)
}

/** The accounts of the fixture: nobody but its owner sends anything from them. Empty without a fixture. */
export function fixtureAccounts(t: CheckContext): string[] {
  try {
    const { profile, controllers, funder } = t.fixture
    return [profile.address, ...(funder ? [funder.address] : []), controllers.full.address]
  } catch (error) {
    if (error instanceof Untestable) return []
    throw error
  }
}
