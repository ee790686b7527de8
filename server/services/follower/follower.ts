import { accountsWithOpenRelays, openRelays, withAttempts, type OpenRelay } from '../ledger/open-relays.ts'
import { clearRefusals, isLeftOut, refusalOf } from '../ledger/signer-accounts.ts'
import { type Settlement, abandon, finalise, settle, unsettle } from '../ledger/settle.ts'
import { createAges, type FollowerOptions, type Head } from './look.ts'
import { createDeepReorganisations, createHeadReader } from './reorganisations.ts'
import { followMined, findPassed, outcomesOf } from './receipts.ts'
import { createRepairs } from './repairs.ts'

/** Follows stored relays until they are final. A step that is done twice, or by another process, does no harm. */
export interface Follower {
  /**
   * One look at the relays of an account. It settles what is mined, opens again what a reorganisation has dropped, sends again
   * what no node has, raises fees, and gives up what can no longer be mined.
   *
   * @returns whether something is left to follow
   * @throws ServiceError UPSTREAM_UNAVAILABLE
   */
  follow(account: string): Promise<boolean>
  /** Checks whether the blocks of final relays are still part of the chain. @throws ServiceError UPSTREAM_UNAVAILABLE */
  recheck(): Promise<void>
  /** The accounts that have relays to follow, also those that a reorganisation has opened again since the last look. */
  accountsWithWork(): Promise<readonly string[]>
}

/** The most relays in one look. The next look takes the others. */
const MAX_TOGETHER = 500

export function createFollower(options: FollowerOptions): Follower {
  const parts = createParts(options)
  return {
    follow: (account) => follow(parts, account),
    recheck: parts.recheck,
    accountsWithWork: () => accountsWithWork(parts),
  }
}

type Parts = ReturnType<typeof createParts>

/** What the steps of a look share. */
function createParts(options: FollowerOptions) {
  const ages = createAges(options.clock)
  const deepReorganisations = createDeepReorganisations({ ...options, ages })
  /** By account: the head at which its mined relays were last found in place. */
  const checkedAt = new Map<string, string>()
  /** By account: the nonce of its first open relay, when it was last looked at. */
  const firstOpen = new Map<string, number>()
  const recheck = async (): Promise<void> => {
    await deepReorganisations.recheck()
    // Relays below the remembered nonce may be open again; another process may have opened them, too.
    firstOpen.clear()
    checkedAt.clear()
  }
  const headReader = createHeadReader(options, recheck)
  const repairs = createRepairs({ ...options, ages })
  return {
    ...options,
    db: options.database.db,
    deepReorganisations,
    checkedAt,
    firstOpen,
    recheck,
    headReader,
    repairs,
  }
}

async function follow(parts: Parts, account: string): Promise<boolean> {
  const { db, deepReorganisations, firstOpen, repairs } = parts
  const { fromNonce, relays } = await readOpen(parts, account)
  const [first] = relays
  if (!first) {
    const chainNonce = await countOf(parts, account)
    if (chainNonce < fromNonce) firstOpen.set(account, chainNonce)
    return deepReorganisations.look(account, chainNonce, undefined)
  }
  firstOpen.set(account, first.accountNonce)
  const [head, chainNonce, refused] = await Promise.all([
    parts.headReader.read(),
    countOf(parts, account),
    refusalOf(db, account),
  ])
  if (await deepReorganisations.look(account, chainNonce, first.accountNonce)) firstOpen.set(account, chainNonce)
  const isThrough = refused !== undefined && refused.nonce < chainNonce
  if (isThrough) await clearRefusals(db, account)
  const refusal = isThrough ? undefined : refused
  parts.onLook(account, isLeftOut(refusal))

  const mined = relays.filter((relay) => relay.mined !== null)
  await checkMined(parts, account, mined, head)
  const unmined = relays.filter((relay) => relay.mined === null)
  const passed = unmined.filter(({ accountNonce }) => accountNonce < chainNonce)
  await settlePassed(parts, account, passed, { head, chainNonce })
  const waiting = unmined.filter(({ accountNonce }) => accountNonce >= chainNonce)
  await repairs.repairWaiting(account, await withAttempts(db, waiting), { head, chainNonce, refusal })
  return true
}

async function accountsWithWork({ db, headReader }: Parts): Promise<readonly string[]> {
  // The pool of nodes logs why a node cannot be asked, and the head is read again when this is called next.
  await headReader.watch().catch(() => {})
  return accountsWithOpenRelays(db)
}

/** Reads the first open relays of an account. @returns them, and the nonce from which on they were looked for */
async function readOpen({ db, firstOpen }: Parts, account: string) {
  const fromNonce = firstOpen.get(account) ?? 0
  const limit = MAX_TOGETHER
  const relays = await openRelays(db, account, { fromNonce, limit })
  if (relays.length > 0 || fromNonce === 0) return { fromNonce, relays }
  // Another process may have opened a final relay below that nonce again.
  return { fromNonce, relays: await openRelays(db, account, { fromNonce: 0, limit }) }
}

/** The account's next nonce on the chain. */
const countOf = async ({ upstream }: Parts, account: string) =>
  Number(await upstream.request<string>('eth_getTransactionCount', [account, 'latest']))

/** Checks whether the blocks of mined relays are still part of the chain, and whether they are deep enough to be final. */
async function checkMined(parts: Parts, account: string, relays: readonly OpenRelay[], head: Head): Promise<void> {
  const { db, checkedAt, confirmations } = parts
  if (checkedAt.get(account) === head.hash || relays.length === 0) return
  const { final, moved, dropped } = await followMined(parts, relays, head.number - confirmations)
  const options = settleOptions(parts, relays, head)
  report(parts, await settle(db, moved, options), relays, 'relay mined in another block after a reorganisation')
  const taken = await unsettle(db, hashesOf(dropped), options)
  report(parts, taken, relays, 'relay dropped by a reorganisation')
  await finalise(db, hashesOf(final))
  if (moved.length + dropped.length === 0) checkedAt.set(account, head.hash)
}

/** Settles relays whose account nonces the chain has used, by one of their transactions or by something else. */
async function settlePassed(
  parts: Parts,
  account: string,
  passed: readonly OpenRelay[],
  { head, chainNonce }: { readonly head: Head; readonly chainNonce: number },
): Promise<void> {
  const { db, checkedAt, confirmations, repairs } = parts
  const { found, lost } = await findPassed(parts, passed, head.number - confirmations)
  const settled = await settle(db, await outcomesOf(db, found, passed), settleOptions(parts, passed, head))
  report(parts, settled, passed, 'relay mined')
  if (settled.length > 0) checkedAt.delete(account)
  const given = await repairs.replaceLost(account, lost, chainNonce)
  const abandoned = await abandon(db, given, head, settleOptions(parts, lost, head))
  report(parts, abandoned, passed, 'relay given up: its nonce was used by something else')
}

const hashesOf = (relays: readonly OpenRelay[]) => relays.map(({ hash }) => hash)

const settleOptions = ({ plans, clock }: Parts, relays: readonly OpenRelay[], head: Head) => ({
  plans,
  nowSeconds: Math.floor(clock.nowMs() / 1000),
  chainSeconds: BigInt(head.timestamp),
  known: relays.map(({ row }) => row),
})

/** Reports settlements to the log, the metrics and the traces. */
function report(
  { log, onSettled }: Parts,
  settlements: readonly Settlement[],
  relays: readonly OpenRelay[],
  message: string,
): void {
  const requestIds = new Map(relays.map(({ hash, requestId }) => [hash, requestId]))
  for (const settlement of settlements) {
    const requestId = requestIds.get(settlement.relay) ?? null
    const { relay, status, charged, gasUsed } = settlement
    log.info({ requestId, relay, status, charged: String(charged), gasUsed: String(gasUsed) }, message)
    onSettled(settlement, requestId)
  }
}
