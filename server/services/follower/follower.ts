import { openRelays, withAttempts, type OpenRelay } from '../ledger/open-relays.ts'
import { ServiceError } from '../../core/errors.ts'
import { clearRefusals, isLeftOut, refusalOf } from '../ledger/refusals.ts'
import type { Settlement } from '../ledger/change-relays.ts'
import { abandon, finalise, settle, unsettle } from '../ledger/settle.ts'
import { createAges } from './ages.ts'
import { createDeepReorganisations } from './deep-reorganisations.ts'
import type { FollowerOptions, Head } from './follower-options.ts'
import { followMined } from './follow-mined.ts'
import { findMined, oneOfEach, outcomesOf } from './receipts.ts'
import { createRepairs } from './repairs.ts'

/** Follows stored relays until they are final. Each of its steps may be done twice, or by another process, without harm. */
export interface Follower {
  /**
   * One look at the relays of an account: settles what is mined, takes back what was reorganised away, sends again what
   * no node has, raises fees, gives up what cannot be mined any more.
   *
   * @returns whether something is left to follow
   * @throws ServiceError UPSTREAM_UNAVAILABLE
   */
  follow(account: string): Promise<boolean>
  /** Looks at what is held to be final, since blocks may be gone. @throws ServiceError UPSTREAM_UNAVAILABLE */
  recheck(): Promise<void>
}

interface RpcBlock {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
}

/** The most relays in one look; the next look takes the rest. */
const MAX_TOGETHER = 500

export function createFollower(options: FollowerOptions): Follower {
  const { database, upstream, plans, clock, log, confirmations, onSettled } = options
  const { db } = database
  const ages = createAges(clock)
  const repairs = createRepairs({ ...options, ages })
  const deepReorganisations = createDeepReorganisations({ ...options, ages })
  /** By account: the head at which its mined relays were last found in place. */
  const checkedAt = new Map<string, string>()
  /** By account: the nonce of its first open relay, when it was last looked at. */
  const firstOpen = new Map<string, number>()
  let lastHead: Head | undefined

  const settleOptions = (relays: readonly OpenRelay[], head: Head) => ({
    plans,
    nowSeconds: Math.floor(clock.nowMs() / 1000),
    chainSeconds: BigInt(head.timestamp),
    known: relays.map(({ row }) => row),
  })

  function report(settlements: readonly Settlement[], relays: readonly OpenRelay[], message: string): void {
    const requestIds = new Map(relays.map(({ hash, requestId }) => [hash, requestId]))
    for (const settlement of settlements) {
      const requestId = requestIds.get(settlement.relay) ?? null
      const { relay, status, charged, gasUsed } = settlement
      log.info({ requestId, relay, status, charged: String(charged), gasUsed: String(gasUsed) }, message)
      onSettled(settlement, requestId)
    }
  }

  const readBlock = (block: string) => upstream.request<RpcBlock | null>('eth_getBlockByNumber', [block, false])

  /** Notices as well that the head that was read last is no longer part of the chain. */
  async function readHead(): Promise<Head> {
    const block = await readBlock('latest')
    // The node has just started, or has lost its database.
    if (block === null) throw new ServiceError('UPSTREAM_UNAVAILABLE', 'the node has no latest block')
    const head = { number: Number(block.number), hash: block.hash, timestamp: Number(block.timestamp) }
    const before = lastHead
    lastHead = head
    if (before && (await isReplaced(before, head, block.parentHash))) await recheck()
    return head
  }

  async function isReplaced(before: Head, head: Head, parentHash: string): Promise<boolean> {
    if (head.hash === before.hash || parentHash === before.hash) return false
    if (head.number === before.number) return true
    // Of several nodes, this one may be behind.
    if (head.number < before.number) return false
    const block = await readBlock(`0x${before.number.toString(16)}`)
    return block !== null && block.hash !== before.hash
  }

  /** The account's next nonce on the chain. */
  const countOf = async (account: string) =>
    Number(await upstream.request<string>('eth_getTransactionCount', [account, 'latest']))

  async function checkMined(account: string, relays: readonly OpenRelay[], head: Head): Promise<void> {
    if (checkedAt.get(account) === head.hash || relays.length === 0) return
    const { final, moved, dropped } = await followMined({ db, upstream }, relays, head.number - confirmations)
    report(
      await settle(db, moved, settleOptions(relays, head)),
      relays,
      'relay mined in another block after a reorganisation',
    )
    report(
      await unsettle(
        db,
        dropped.map(({ hash }) => hash),
        settleOptions(relays, head),
      ),
      relays,
      'relay dropped by a reorganisation',
    )
    await finalise(
      db,
      final.map(({ hash }) => hash),
    )
    if (moved.length + dropped.length === 0) checkedAt.set(account, head.hash)
  }

  /** Receipts of relays whose nonces the chain has used, and the relays that have none. */
  async function findPassed(passed: readonly OpenRelay[], lastFinalBlock: number) {
    // As a rule the first transaction is the one that is mined.
    const byFirst = await Promise.all(
      oneOfEach(passed).map(({ transaction }) =>
        findMined(upstream, { transaction, attempts: [{ hash: transaction, kind: 'call' }] }, lastFinalBlock),
      ),
    )
    const isFound = new Set(byFirst.map((mined) => mined?.transaction))
    const others = await withAttempts(
      db,
      passed.filter(({ transaction }) => !isFound.has(transaction)),
    )
    const byOther = await Promise.all(oneOfEach(others).map((one) => findMined(upstream, one, lastFinalBlock)))
    for (const mined of byOther) isFound.add(mined?.transaction)
    return {
      found: [...byFirst, ...byOther].filter((one) => one !== undefined),
      lost: others.filter(({ transaction }) => !isFound.has(transaction)),
    }
  }

  async function recheck(): Promise<void> {
    await deepReorganisations.recheck()
    // What was behind may be open again, also because another process has found it.
    firstOpen.clear()
    checkedAt.clear()
  }

  /** The first open relays of an account, and the nonce from which on they were looked for. */
  async function readOpen(account: string) {
    const fromNonce = firstOpen.get(account) ?? 0
    const limit = MAX_TOGETHER
    const relays = await openRelays(db, account, { fromNonce, limit })
    if (relays.length > 0 || fromNonce === 0) return { fromNonce, relays }
    // Another process may have taken back that a relay is final.
    return { fromNonce, relays: await openRelays(db, account, { fromNonce: 0, limit }) }
  }

  return {
    recheck,
    follow: async (account) => {
      const { fromNonce, relays } = await readOpen(account)
      const [first] = relays
      if (!first) {
        const chainNonce = await countOf(account)
        if (chainNonce < fromNonce) firstOpen.set(account, chainNonce)
        return deepReorganisations.look(account, chainNonce, undefined)
      }
      firstOpen.set(account, first.accountNonce)
      const [head, chainNonce, refused] = await Promise.all([readHead(), countOf(account), refusalOf(db, account)])
      if (await deepReorganisations.look(account, chainNonce, first.accountNonce)) firstOpen.set(account, chainNonce)
      const isThrough = refused !== undefined && refused.nonce < chainNonce
      if (isThrough) await clearRefusals(db, account)
      const refusal = isThrough ? undefined : refused
      options.onLook(account, isLeftOut(refusal))
      const mined = relays.filter((relay) => relay.mined !== null)
      await checkMined(account, mined, head)

      const unmined = relays.filter((relay) => relay.mined === null)
      const passed = unmined.filter(({ accountNonce }) => accountNonce < chainNonce)
      const { found, lost } = await findPassed(passed, head.number - confirmations)
      const settled = await settle(db, await outcomesOf(db, found, passed), settleOptions(passed, head))
      report(settled, relays, 'relay mined')
      if (settled.length > 0) checkedAt.delete(account)

      const given = await repairs.replaceLost(account, lost, chainNonce)
      report(
        await abandon(db, given, settleOptions(lost, head)),
        relays,
        'relay given up: its nonce was used by something else',
      )
      await repairs.repairWaiting(
        account,
        await withAttempts(
          db,
          unmined.filter(({ accountNonce }) => accountNonce >= chainNonce),
        ),
        { head, chainNonce, refusal },
      )
      return true
    },
  }
}
