import { rawOf, type TriedRelay } from '../ledger/open-relays.ts'
import { clearRefusals, noteRefusal } from '../ledger/signer-accounts.ts'
import { accountKey } from '../relayer/account-queue.ts'
import { carriedOf, groupsOf, latest } from './attempts.ts'
import type { FollowerOptions } from './follower-options.ts'
import { isOver, type Waiting } from './waiting.ts'

/**
 * Sends again what no node has, and notes what became of the account's next transaction: the others wait behind it.
 * What is past its validity window is not sent: its nonce is to be used up otherwise.
 */
export async function sendMissing(waiting: Waiting, options: FollowerOptions): Promise<void> {
  const { database, broadcaster, clock, resendAfterMs } = options
  const { account, chainNonce, refusal } = waiting
  const missing = groupsOf(waiting.relays)
    .filter((group) => isMissing(group, waiting) && waiting.ageMs(group[0]) >= resendAfterMs)
    .map(([relay]) => relay)
  const [first] = missing
  if (!first) return
  const { taken, isRefused } = await database.exclusively(accountKey(account), async (db) => {
    const hashes = missing.map((relay) => latest(relay).hash)
    const raws = await rawOf(db, hashes)
    return broadcaster.send(hashes.map((hash) => ({ hash, raw: raws.get(hash) ?? '0x' })))
  })
  if (first.accountNonce !== chainNonce) return
  if (taken > 0 && refusal) await clearRefusals(database.db, account)
  if (taken === 0 && isRefused) await noteRefusal(database.db, account, chainNonce, clock.nowMs())
}

function isMissing(group: [TriedRelay, ...TriedRelay[]], { knownNonce, refusal, head }: Waiting): boolean {
  const [{ accountNonce }] = group
  const isUnknown = accountNonce >= knownNonce || accountNonce === refusal?.nonce
  const isOverdue = carriedOf(group).every((relay) => latest(relay).kind === 'call' && isOver(relay, head))
  return isUnknown && !isOverdue
}
