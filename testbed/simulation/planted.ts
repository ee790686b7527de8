import { registerHooks } from 'node:module'

/** A change of the sources that breaks a promise. */
export interface PlantedFault {
  readonly id: string
  /** The mistake that the change makes. */
  readonly mistake: string
  readonly edits: readonly Edit[]
}

interface Edit {
  /** Path from the root of the repository. */
  readonly file: string
  /** The text to replace, which the file contains exactly once. */
  readonly find: string
  readonly replace: string
}

const relayer = 'server/services/relayer'
const ledger = 'server/services/ledger'
const follower = 'server/services/follower'

/** The faults that the simulation has to find. Each is a known mistake of systems of this kind. */
export const plantedFaults: readonly PlantedFault[] = [
  {
    id: 'nonce-before-commit',
    mistake: 'the account nonce is taken before the call is stored, in a transaction of its own',
    edits: [
      {
        file: `${ledger}/commit.ts`,
        find: `  const { rows } = await sql<{ stored: boolean | null }>\`select case`,
        replace: `  for (const { signer, expected, next } of nonces) {
    const taken = await db.updateTable('signer_accounts').set({ next_nonce: next })
      .where('address', '=', signer).where('next_nonce', '=', expected).executeTakeFirst()
    if (Number(taken.numUpdatedRows) === 0) return false
  }
  nonces = nonces.map((one) => ({ ...one, expected: one.next }))
  const { rows } = await sql<{ stored: boolean | null }>\`select case`,
      },
    ],
  },
  {
    id: 'broadcast-before-commit',
    mistake: 'a transaction is sent before it is stored',
    edits: [
      {
        file: `${ledger}/commit.ts`,
        find: `  if (!(await storeRelays(db, draft, nowSeconds, holders))) return undefined`,
        replace: `  await (options as any).broadcaster.send(draft.relays)
  if (!(await storeRelays(db, draft, nowSeconds, holders))) return undefined`,
      },
    ],
  },
  {
    id: 'receipt-believed-at-once',
    mistake:
      'a receipt is held to be final before a reorganisation can take it back, and its block is not looked at again',
    edits: [
      {
        file: `${follower}/receipts.ts`,
        find: `final: Number(receipt.blockNumber) <= lastFinalBlock`,
        replace: `final: true`,
      },
      {
        file: `${follower}/reorganisations.ts`,
        find: `if (await isGone(upstream, block)) gone.push(block.hash)`,
        replace: `void [isGone, block]`,
      },
    ],
  },
  {
    id: 'first-hash-forgotten',
    mistake: 'once a transaction is replaced, nobody looks for the receipt of the first one',
    edits: [
      {
        file: `${follower}/receipts.ts`,
        find: `attempts.toReversed()`,
        replace: `attempts.slice(-1)`,
      },
      {
        file: `${follower}/receipts.ts`,
        find: `findMined(upstream, { transaction, attempts: [{ hash: transaction, kind: 'call' }] }, lastFinalBlock),`,
        replace: `Promise.resolve(void transaction),`,
      },
    ],
  },
  {
    id: 'lock-outlives-holder',
    mistake: 'the lock of an account stays when the process that holds it is gone',
    edits: [
      {
        file: 'testbed/simulation/cluster.ts',
        find: `    for (const key of [...session.keys]) this.#unlock(session, key)`,
        replace: ``,
      },
    ],
  },
  {
    id: 'watermark-ahead',
    mistake: 'the follower remembers the first open nonce as one that is behind it, and never looks before that one',
    edits: [
      {
        file: `${follower}/follower.ts`,
        find: `  if (relays.length > 0 || fromNonce === 0) return { fromNonce, relays }\n`,
        replace: `  if (fromNonce >= 0) return { fromNonce, relays }\n`,
      },
      {
        file: `${follower}/follower.ts`,
        find: `  firstOpen.set(account, first.accountNonce)\n`,
        replace: `  firstOpen.set(account, first.accountNonce + 1)\n`,
      },
    ],
  },
  {
    id: 'retry-signs-anew',
    mistake: 'what no node has is signed anew with the next nonce, instead of being sent again',
    edits: [
      {
        file: `${follower}/repairs.ts`,
        find: `      await sendMissing(waiting, options)`,
        replace: `      const signer = options.signerOf(account)
      const unsent = relays.filter((one) => one.accountNonce >= waiting.knownNonce && waiting.ageMs(one) >= options.resendAfterMs)
      for (const group of Map.groupBy(unsent, ({ transaction }) => transaction).values()) {
        const renewed = { relays: group, carried: group }
        if (signer) await attempts.renew(renewed, signer, await options.fees.current(), at.chainNonce)
      }
      void sendMissing`,
      },
    ],
  },
  {
    id: 'freed-twice',
    mistake: 'what a call reserved is given back each time that it is settled',
    edits: [
      {
        file: `${ledger}/settle.ts`,
        find: `const taken = relay.charged === null ? reserved : BigInt(relay.charged)`,
        replace: `const taken = reserved`,
      },
    ],
  },
  {
    id: 'job-lost-at-crash',
    mistake: 'nobody looks for work whose process has died',
    edits: [
      {
        file: 'server/services/jobs/jobs.ts',
        find: `      for (const account of await accountsWithWork()) void requests.add(account, 0)`,
        replace: ``,
      },
    ],
  },
  {
    id: 'expiry-charged-to-nobody',
    mistake: 'what it costs to use up the nonce of a call whose time has run out is charged to nobody',
    edits: [
      {
        file: `${ledger}/settle.ts`,
        find: `one.kind === 'cancel' && (!isExpired || one.gasUsed === 0n)`,
        replace: `one.kind === 'cancel'`,
      },
    ],
  },
  {
    id: 'settled-in-another-period',
    mistake: 'what a call reserved in the last period is given back in the present one',
    edits: [
      {
        file: `${ledger}/settle.ts`,
        find: `if (account?.period === relay.period) {`,
        replace: `if (account) {`,
      },
    ],
  },
  {
    id: 'one-of-several-counted',
    mistake: 'of calls of unregistered profiles that are stored together, only one is counted',
    edits: [
      {
        file: `${ledger}/draft.ts`,
        find: `amount: (drawn.get(scope)?.amount ?? 0n) + gas })`,
        replace: `amount: gas })`,
      },
    ],
  },
  {
    id: 'gap-after-nonce-too-low',
    mistake: 'a call whose nonce was used by something else gets one that is too high by one',
    edits: [
      {
        file: `${ledger}/attempts.ts`,
        find: `const nonce = Math.max(Number(next_nonce), chainNonce)`,
        replace: `const nonce = Math.max(Number(next_nonce), chainNonce) + 1`,
      },
    ],
  },
  {
    id: 'bundle-believed-as-one',
    mistake: 'a transaction that succeeds is held for the success of every call that it carries',
    edits: [
      {
        file: `${follower}/receipts.ts`,
        find: `succeeded: results[index]?.succeeded ?? false`,
        replace: `succeeded`,
      },
    ],
  },
  {
    id: 'bundle-charged-to-each',
    mistake: 'every call of a bundle is charged the gas of the whole receipt',
    edits: [
      {
        file: `${follower}/receipts.ts`,
        find: `const gas = divideGas(gasUsed, decodeBundle(data), results)`,
        replace: `const gas = decodeBundle(data).map(() => gasUsed)`,
      },
    ],
  },
  {
    id: 'fee-below-replacement-rule',
    mistake: 'a replacement offers no more than a wei above what is to be replaced',
    edits: [
      {
        file: `${relayer}/fees.ts`,
        find: `const RAISE_PERCENT = 25n`,
        replace: `const RAISE_PERCENT = 0n`,
      },
    ],
  },
  {
    id: 'followed-without-the-key',
    mistake: 'a process without the key of an account follows it in place of one that has the key',
    edits: [
      {
        file: 'server/services/jobs/jobs.ts',
        find: `if (isLeftToOthers(account)) return 0`,
        replace: ``,
      },
      {
        file: `${follower}/repairs.ts`,
        find: `lostAfterMs * TIMES_WITHOUT_KEY`,
        replace: `lostAfterMs`,
      },
    ],
  },
  {
    id: 'suspended-is-served',
    mistake: 'calls of a profile that an operator has suspended are accepted',
    edits: [
      {
        file: `${ledger}/accounts.ts`,
        find: `if (account?.suspended) throw`,
        replace: `if (false) throw`,
      },
    ],
  },
  {
    id: 'refused-behind-pending',
    mistake: 'a call that is next behind those that wait to be mined is refused as if its nonce were taken',
    edits: [
      {
        file: `${relayer}/simulate-next.ts`,
        find: `    const taken = open.filter(({ call }) => call.nonce < expected)
    channel.refuse(taken, nonceConflict(expected))
    return undefined
  }
`,
        replace: `  }
  if (pending.length > 0 && lowest.call.nonce <= expected) {
    const taken = open.filter(({ call }) => call.nonce <= expected)
    channel.refuse(taken, nonceConflict(expected))
    return undefined
  }
`,
      },
    ],
  },
  {
    id: 'repeat-judged-anew',
    mistake: 'a caller who repeats a call that was accepted is told why it would be refused now',
    edits: [
      {
        file: `${relayer}/relay-by-key-manager.ts`,
        find: `await acceptedBefore(request, bound, services)`,
        replace: `await Promise.resolve(void acceptedBefore as string | undefined)`,
      },
    ],
  },
  {
    id: 'former-key-manager-believed',
    mistake: 'a signature is judged for the key manager that the profile had before',
    edits: [
      {
        file: `${relayer}/controllers.ts`,
        find: `await profiles.parties(call)`,
        replace: `{ ...(await profiles.parties(call)), owner: call.keyManager, target: call.profile }`,
      },
    ],
  },
]

const root = new URL('../../', import.meta.url).href

/**
 * Plants a fault: from now on Node loads the files with the mistake in them. The files on the disk stay as they are.
 *
 * @throws RangeError there is no such fault, or the sources have changed so that it cannot be planted
 */
export function plant(id: string): void {
  const fault = plantedFaults.find((one) => one.id === id)
  if (!fault) throw new RangeError(`there is no fault '${id}'`)
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context)
      const edits = fault.edits.filter(({ file }) => url === root + file)
      if (edits.length === 0 || !loaded.source) return loaded
      const source =
        typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString()
      return { ...loaded, source: edits.reduce(edited, source) }
    },
  })
}

/** @throws RangeError the file does not contain the text exactly once */
export function edited(source: string, { file, find, replace }: Edit): string {
  const parts = source.split(find)
  if (parts.length !== 2) throw new RangeError(`${file} holds ${parts.length - 1} times: ${find}`)
  return parts.join(replace)
}
