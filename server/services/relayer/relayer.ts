import type { Logger } from 'pino'
import type { RelayCall } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Clock } from '../clock.ts'
import { KeyHeldError, type Database } from '../database/database.ts'
import type { Registration } from '../ledger/account-rows.ts'
import { createAdmission, type Admission } from '../ledger/admission.ts'
import type { UnregisteredLimits } from '../ledger/budgets.ts'
import { commit } from '../ledger/commit.ts'
import type { Acceptance } from '../ledger/acceptance.ts'
import { END_OF_NONCES, lookUp, sendersBefore, type ChannelKey, type ChannelQuestion } from '../ledger/lookup.ts'
import { createLedgerMemory } from '../ledger/memory.ts'
import { microBatch } from '../../concurrency/micro-batch.ts'
import type { KeyManagerCodes } from '../ledger/key-manager-codes.ts'
import type { Profiles } from '../profiles/profiles.ts'
import type { Plans } from '../quotas/plans.ts'
import { largestTransactionBytes, maxFeePerGas } from '../../ethereum/sign-transaction.ts'
import type { SignerAccount } from '../signers/signer-account.ts'
import type { Signers } from '../signers/signers.ts'
import type { Simulator } from '../simulator/simulator.ts'
import type { Broadcaster } from './broadcast.ts'
import { Channel, type Entry, type SimulatedEntry } from './channel.ts'
import { createChannelSenders } from './channel-senders.ts'
import type { ExpiryCheck } from './expiry.ts'
import type { FeeSource } from './fees.ts'
import { identityOf } from './identity.ts'
import { judgeCall } from './judge.ts'
import { createLane, type Lane, type LaneAnswer } from './lane.ts'
import { unobserved, type RelayObserver } from './observer.ts'

/** Executes relay calls: each once, each accounted for, none lost. */
export interface Relayer {
  /**
   * Simulates, stores and sends a verified call, or answers with what became of the same call before.
   *
   * @returns the hash of the transaction that carries it; from then on it survives the end of this process
   * @throws ServiceError `broadcast` false: nothing was stored, and nothing will be sent
   * @throws StaleProfileError the profile has another key manager: to be verified anew
   */
  submit(call: RelayCall): Promise<{ transactionHash: string }>
  /** Answers what is under way, takes nothing new. */
  close(): Promise<void>
}

declare module '../../core/define.ts' {
  interface Services {
    relayer: Relayer
  }
}

export interface RelayerOptions {
  readonly chainId: bigint
  readonly database: Database
  readonly broadcaster: Broadcaster
  readonly simulator: Simulator
  readonly profiles: Profiles
  readonly signers: Signers
  readonly fees: FeeSource
  readonly assertLasts: ExpiryCheck
  readonly plans: Plans
  readonly registration: Registration
  readonly unregistered: UnregisteredLimits
  readonly keyManagerCodes: KeyManagerCodes
  readonly gasPaddingPercent: number
  readonly gasCap: bigint
  /** Ceiling for the fee per gas. */
  readonly maxFeePerGasWei: bigint
  /** The most bytes of a signed transaction that nodes take. */
  readonly maxTransactionBytes: number
  readonly clock: Clock
  readonly log: Logger
  /** Called when something is stored under an account: it has to be followed until it is mined. */
  readonly onStored: (account: string) => void
  /** Default: nobody looks on. */
  readonly observer?: RelayObserver
}

/** How long a call waits for the one before it in its channel. */
const GAP_GRACE_MS = 400
/** A stored call is answered after this time even if no node has taken it yet: it is ours to send. */
const BROADCAST_WAIT_MS = 5_000
/** An account that another process does not let go of is not tried again for so long. */
const HELD_MS = 2_000
/** The most channels in one look into the ledger. */
const MAX_LOOKUPS = 64
/** The most batches of lanes in one database transaction. */
const MAX_COMMITS = 32

export function createRelayer(options: RelayerOptions): Relayer {
  const { chainId, database, broadcaster, clock, log, signers, fees, profiles, observer = unobserved } = options
  const channels = new Map<string, Channel>()
  const underWay = new Map<string, Promise<{ transactionHash: string }>>()
  let isClosed = false

  const lookUpTogether = microBatch((questions: readonly ChannelQuestion[]) => lookUp(database.db, questions), {
    maxItems: MAX_LOOKUPS,
  })
  const sendersOf = createChannelSenders({
    sendersBefore: (places) => sendersBefore(database.db, places),
    isOurs: (account) => signers.byAddress(account) !== undefined,
    clock,
  })
  const memory = createLedgerMemory()
  const askLedger = createAdmission({
    ...options,
    db: database.db,
    memory,
    gasPriceWei: async () => maxFeePerGas(await fees.current()),
    codeOf: options.keyManagerCodes.of,
  })
  const commitTogether = microBatch(
    async (submissions: readonly { acceptances: readonly Acceptance[]; holder: string | undefined }[]) => {
      const current = await fees.current()
      const acceptances = submissions.flatMap((one) => one.acceptances)
      const holders = new Map(
        submissions.flatMap((one) => one.acceptances.map(({ signer }) => [signer.address, one.holder ?? ''])),
      )
      const outcomes = await observer.store(acceptances, () =>
        commit(database.db, acceptances, {
          ...options,
          nowMs: clock.nowMs(),
          fees: current,
          memory,
          ...(database.isShared && { holders }),
        }),
      )
      const stored = acceptances.filter((_, at) => outcomes[at]?.kind === 'stored')
      for (const address of new Set(stored.map(({ signer }) => signer.address))) options.onStored(address)
      let next = 0
      return submissions.map((one) => outcomes.slice(next, (next += one.acceptances.length)))
    },
    { maxItems: MAX_COMMITS },
  )
  const lanes = new Map<string, Lane>(
    signers.accounts.map((signer) => {
      const lane = createLane({
        signer,
        database,
        broadcaster,
        log,
        observer,
        commit: (acceptances, holder) => commitTogether({ acceptances, holder }),
      })
      return [signer.address, lane]
    }),
  )

  async function explainSigner(call: RelayCall): Promise<never> {
    const readings = call.misreadings()
    const permissions = await profiles.permissions(
      call.profile,
      readings.map(({ signer }) => signer),
    )
    const likely = readings.find((_, index) => (permissions[index] ?? 0n) !== 0n)
    const reason = `the signer ${call.signer} is no controller of ${call.profile}`
    throw new ServiceError('INVALID_SIGNATURE', likely ? `${reason}; ${likely.mistake}` : reason, {
      details: {
        signer: call.signer,
        ...(likely && { likelyMistake: likely.mistake, controller: likely.signer }),
      },
    })
  }

  const gasLimitFor = (gas: bigint, cap: bigint) => {
    const padded = (gas * BigInt(100 + options.gasPaddingPercent)) / 100n
    return padded < cap ? padded : cap
  }

  /** A transaction that the node refuses for its size would be refused for ever, and everything behind it with it. */
  function assertFits({ callData }: RelayCall): void {
    const bytes = largestTransactionBytes((callData.length - 2) / 2, options)
    if (bytes <= options.maxTransactionBytes) return
    const reason = `its transaction has up to ${bytes} bytes, the limit is ${options.maxTransactionBytes}`
    throw new ServiceError('PAYLOAD_TOO_LARGE', reason, {
      details: { transactionBytes: bytes, maxTransactionBytes: options.maxTransactionBytes },
    })
  }

  /** Another account is taken when a process holds the first one and does not let go; calls before these bind to theirs. */
  async function submitToOne(
    { costWei, required }: { readonly costWei: bigint; readonly required: string | undefined },
    acceptancesOf: (signer: SignerAccount) => readonly Acceptance[],
  ): Promise<{ readonly answers: readonly LaneAnswer[]; readonly account: SignerAccount; readonly done: () => void }> {
    for (;;) {
      const { account, done } = await signers.choose(costWei, required)
      const lane = lanes.get(account.address)
      if (!lane) throw new Error(`no lane for ${account.address}`)
      try {
        return { answers: await lane.submit(acceptancesOf(account)), account, done }
      } catch (error) {
        done()
        if (!(error instanceof KeyHeldError)) throw error
        signers.setAside(account.address, HELD_MS)
        if (required !== undefined) throw error
      }
    }
  }

  async function dispatch(
    simulated: readonly SimulatedEntry[],
    required: string | undefined,
  ): Promise<readonly Entry[]> {
    const blockGasLimit = await fees.blockGasLimit()
    const cap = blockGasLimit !== null && blockGasLimit < options.gasCap ? blockGasLimit : options.gasCap
    const tooMuch = simulated.findIndex(({ gas }) => gas > cap)
    if (tooMuch === 0) {
      simulated[0]?.entry.reject(judgeCall({ kind: 'exceeds-gas-cap' }, { gasCap: cap }))
      return simulated.slice(1).map(({ entry }) => entry)
    }
    const run = tooMuch === -1 ? simulated : simulated.slice(0, tooMuch)
    const left = simulated.slice(run.length).map(({ entry }) => entry)
    const limits = run.map(({ gas, entry }) => gasLimitFor(gas, min(cap, entry.admission.gasCap)))
    const price = maxFeePerGas(await fees.current())
    const costWei = limits.reduce((sum, gasLimit) => sum + gasLimit * price, 0n)
    const sender = required ?? (await sendersOf.before(run.map(({ entry }) => entry.call)))
    const { answers, account, done } = await submitToOne({ costWei, required: sender }, (signer) =>
      run.map(({ entry: { call, identity, admission } }, index) => ({
        call,
        identity,
        code: admission.code,
        gasLimit: limits[index] ?? cap,
        signer,
      })),
    )
    void Promise.all(answers.map(({ sent }) => sent)).then(done)
    const orphaned = run.flatMap(({ entry }, index) => {
      const answer = answers[index]
      switch (answer?.committed.kind) {
        case 'stored': {
          const { hash } = answer.committed
          sendersOf.keep(entry.call, account.address)
          void settledWithin(answer.sent, BROADCAST_WAIT_MS).then(() => entry.resolve(hash))
          return []
        }
        case 'known':
          entry.resolve(answer.committed.hash)
          return []
        case 'refused':
          entry.reject(answer.committed.error)
          return []
        case 'orphaned':
        case undefined:
          return [entry]
      }
    })
    return [...orphaned, ...left]
  }

  /** @throws ServiceError why the call is not even tried, unless the same call was accepted before */
  async function admit(call: RelayCall, identity: string): Promise<Admission | { readonly known: string }> {
    try {
      await options.assertLasts(call)
      return await askLedger(call)
    } catch (error) {
      const question = { key: keyOf(call), from: END_OF_NONCES, identities: [identity] }
      const { known, reverted } = await lookUpTogether(question)
      const hash = known.get(identity) ?? reverted.get(identity)
      if (hash === undefined) throw error
      return { known: hash }
    }
  }

  function channelOf(call: RelayCall): Channel {
    const key = keyOf(call)
    const { profile, keyManager, signer } = key
    // A key manager may claim one profile now and another one then: each is asked about by itself.
    const name = `${profile}:${keyManager}:${signer}:${key.channel}`
    let channel = channels.get(name)
    if (!channel) {
      channel = new Channel({
        key,
        clock,
        gapGraceMs: GAP_GRACE_MS,
        lookUp: lookUpTogether,
        simulate: (run) => options.simulator.simulate(run),
        explainSigner,
        dispatch,
        onEmpty: () => channels.delete(name),
      })
      channels.set(name, channel)
    }
    return channel
  }

  return {
    submit: async (call) => {
      if (isClosed) throw new ServiceError('UPSTREAM_UNAVAILABLE', 'the service is shutting down')
      assertFits(call)
      const identity = identityOf(chainId, call)
      const same = underWay.get(identity)
      if (same) return same
      const answer = admit(call, identity).then(async (admission) => ({
        transactionHash:
          'known' in admission
            ? admission.known
            : await new Promise<string>((resolve, reject) => {
                channelOf(call).add({ call, identity, admission, resolve, reject })
              }),
      }))
      underWay.set(identity, answer)
      const forget = () => void underWay.delete(identity)
      answer.then(forget, forget)
      return answer
    },
    close: async () => {
      isClosed = true
      await Promise.allSettled(underWay.values())
      await Promise.all([...lanes.values()].map((lane) => lane.idle()))
    },
  }
}

const min = (one: bigint, other: bigint) => (one < other ? one : other)

const keyOf = ({ profile, keyManager, signer, nonce }: RelayCall): ChannelKey => ({
  profile,
  keyManager,
  signer,
  channel: nonce >> 128n,
})

/** Resolves with the work, or when it takes longer. The timer goes with the work: under load they would be thousands. */
function settledWithin(work: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms).unref()
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
