import { microBatch } from '../../concurrency/micro-batch.ts'
import { min } from '../../ethereum/bigint.ts'
import type { RelayCall } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import { bundleGasLimit } from '../../ethereum/bundle.ts'
import { largestTransactionBytes, maxFeePerGas } from '../../ethereum/transaction.ts'
import { createAdmission, type Admission } from '../ledger/admission.ts'
import type { KeyManagerCodes } from '../ledger/budgets.ts'
import { lookUp, sendersBefore, type ChannelKey, type ChannelQuestion } from '../ledger/lookup.ts'
import { createLedgerMemory } from '../ledger/commit.ts'
import type { Profiles } from '../profiles/profiles.ts'
import type { Relayer } from '../relay-services.ts'
import type { Simulator } from '../simulator/simulator.ts'
import { createAccounts, type AccountsOptions } from './accounts.ts'
import { createChannelSenders } from './channel-senders.ts'
import { Channel } from './channel.ts'
import { createControllerCheck } from './controllers.ts'
import type { ExpiryCheck } from './expiry.ts'
import { identityOf } from './identity.ts'
import { judgeRun, type AcceptedCall } from './judge.ts'
import { simulateNext } from './simulate-next.ts'

export interface RelayerOptions extends Omit<AccountsOptions, 'memory'> {
  readonly simulator: Simulator
  readonly profiles: Profiles
  readonly assertLasts: ExpiryCheck
  readonly keyManagerCodes: KeyManagerCodes
  readonly gasPaddingPercent: number
  /** Most gas of any relay call. */
  readonly gasCap: bigint
  /** Ceiling for the fee per gas. */
  readonly maxFeePerGasWei: bigint
  /** The most bytes of a signed transaction that nodes take. */
  readonly maxTransactionBytes: number
}

/** How long a call waits for the one before it in its channel. */
const GAP_GRACE_MS = 400
/** A stored call is answered after this time even if no node has taken it yet: from then on the follower sends it. */
const BROADCAST_WAIT_MS = 5_000
/** Codes of refusals that say how much a profile has left, or what it has spent. */
const TELL_OF_QUOTA: readonly string[] = ['QUOTA_EXCEEDED', 'RATE_LIMITED']
/** The most channels in one look into the ledger. */
const MAX_LOOKUPS = 64

/**
 * What happens to a relay call, in this order: `submit` finds out whether the same call is under way, and whether its
 * profile may spend anything (`admit`). The call then waits for a turn of its channel. A turn (`takeTurn`) simulates the
 * next calls of the channel, judges the result, has an account reserve quota, sign and store them (`store`), sends them,
 * and answers (`answer`).
 */
export function createRelayer(options: RelayerOptions): Relayer {
  const parts = createParts(options)
  const underWay = new Map<string, Promise<{ transactionHash: string }>>()
  let isClosed = false
  return {
    chainId: options.chainId,
    submit: async (call) => {
      if (isClosed) throw new ServiceError('UPSTREAM_UNAVAILABLE', 'the service is shutting down')
      assertFits(call, options)
      const identity = identityOf(options.chainId, call)
      const same = underWay.get(identity)
      if (same) return same
      const answer = execute(parts, call, identity).then((transactionHash) => ({ transactionHash }))
      underWay.set(identity, answer)
      const forget = () => void underWay.delete(identity)
      answer.then(forget, forget)
      return answer
    },
    close: async () => {
      isClosed = true
      await Promise.allSettled(underWay.values())
      await parts.accounts.idle()
    },
  }
}

/** @returns the hash of the call's transaction */
async function execute(parts: Parts, call: RelayCall, identity: string): Promise<string> {
  const admission = await admit(parts, call)
  const deadlineMs = parts.options.clock.monotonicMs() + GAP_GRACE_MS
  return new Promise((resolve, reject) => {
    channelOf(parts, call).add({ call, identity, admission, deadlineMs, resolve, reject })
  })
}

/** @throws ServiceError why the call is not even simulated */
async function admit(parts: Parts, call: RelayCall): Promise<Admission> {
  await parts.options.assertLasts(call)
  try {
    return await parts.askLedger(call)
  } catch (error) {
    if (error instanceof ServiceError && TELL_OF_QUOTA.includes(error.code)) {
      await parts.assertController(call)
    }
    throw error
  }
}

/** The next calls of a channel. What is neither stored nor refused waits for another turn. */
async function takeTurn(parts: Parts, channel: Channel): Promise<void> {
  const { simulator, profiles, fees, clock, gasPaddingPercent, ...limits } = parts.options
  // The node tells the fees, and the gas of a block with them, while it simulates.
  const readingBlockGas = fees.blockGasLimit()
  readingBlockGas.catch(() => {})
  const simulated = await simulateNext(channel, { simulator, profiles, turnBeganMs: clock.monotonicMs() })
  if (!simulated) return
  const gasCap = min((await readingBlockGas) ?? limits.gasCap, limits.gasCap)
  const judged = await judgeRun(simulated, { gasCap, gasPaddingPercent })
  if (judged instanceof ServiceError) return channel.refuse(simulated.calls.slice(0, 1), judged)
  answer(parts, channel, judged, await store(parts, judged, simulated.account))
}

/**
 * Reserves quota, signs and stores, by an account that can pay; its queue sends what is stored.
 *
 * @param account that sends the calls before these; undefined: none is pending
 */
async function store(parts: Parts, run: readonly AcceptedCall[], account: string | undefined) {
  const { fees, bundles } = parts.options
  const feePerGasWei = maxFeePerGas(await fees.current())
  const gasLimits = run.map(({ gasLimit }) => gasLimit)
  // Calls that share a transaction want more gas to be at hand than those that do not.
  const gas = bundles ? bundleGasLimit(gasLimits) : gasLimits.reduce((sum, gasLimit) => sum + gasLimit, 0n)
  return parts.accounts.store(
    run.map(({ waiting: { call, identity, admission }, gasLimit }) => ({
      call,
      identity,
      gasLimit,
      code: admission.code,
    })),
    {
      costWei: gas * feePerGasWei,
      required: account ?? (await parts.sendersOf.before(run.map(({ waiting }) => waiting.call))),
    },
  )
}

/** Answers the callers of what was stored, known or refused. The others wait for another turn of their channel. */
function answer(
  { sendersOf }: Parts,
  channel: Channel,
  judged: readonly AcceptedCall[],
  { committed, sent, account }: Awaited<ReturnType<typeof store>>,
): void {
  for (const [index, { waiting }] of judged.entries()) {
    const outcome = committed[index]
    switch (outcome?.kind) {
      case 'stored':
        channel.release([waiting])
        sendersOf.keep(waiting.call, account)
        void settledWithin(sent, BROADCAST_WAIT_MS).then(() => waiting.resolve(outcome.hash))
        break
      case 'known':
        channel.release([waiting])
        waiting.resolve(outcome.hash)
        break
      case 'refused':
        channel.refuse([waiting], outcome.error)
        break
      case 'orphaned':
      case undefined:
    }
  }
}

/** The channel of a call, which exists while calls of it wait. */
function channelOf(parts: Parts, call: RelayCall): Channel {
  const { channels, lookUpTogether } = parts
  const key = keyOf(call)
  // A key manager may claim different profiles at different times, so each profile has channels of its own.
  const name = `${call.profile}:${key.keyManager}:${key.signer}:${key.channel}`
  let channel = channels.get(name)
  if (!channel) {
    channel = new Channel({
      key,
      clock: parts.options.clock,
      lookUp: lookUpTogether,
      turn: (of) => takeTurn(parts, of),
      onEmpty: () => channels.delete(name),
    })
    channels.set(name, channel)
  }
  return channel
}

type Parts = ReturnType<typeof createParts>

/** What the steps share. */
function createParts(options: RelayerOptions) {
  const { database, signers, fees, clock } = options
  const memory = createLedgerMemory()
  return {
    options,
    askLedger: createAdmission({
      ...options,
      db: database.db,
      memory,
      gasPriceWei: async () => maxFeePerGas(await fees.current()),
      recentGasPriceWei: () => {
        const recent = fees.recent()
        return recent && maxFeePerGas(recent)
      },
      codeOf: options.keyManagerCodes.of,
    }),
    assertController: createControllerCheck(options),
    lookUpTogether: microBatch((questions: readonly ChannelQuestion[]) => lookUp(database.db, questions), {
      maxItems: MAX_LOOKUPS,
    }),
    sendersOf: createChannelSenders({
      sendersBefore: (places) => sendersBefore(database.db, places),
      accounts: new Set(signers.accounts.map(({ address }) => address)),
      clock,
    }),
    accounts: createAccounts({ ...options, memory }),
    channels: new Map<string, Channel>(),
  }
}

/**
 * A node refuses a transaction that is too large each time that it is sent, and everything behind it as well.
 *
 * @throws ServiceError PAYLOAD_TOO_LARGE
 */
function assertFits({ callData }: RelayCall, limits: RelayerOptions): void {
  const { maxTransactionBytes } = limits
  const transactionBytes = largestTransactionBytes((callData.length - 2) / 2, limits)
  if (transactionBytes <= maxTransactionBytes) return
  const reason = `its transaction has up to ${transactionBytes} bytes, the limit is ${maxTransactionBytes}`
  throw new ServiceError('PAYLOAD_TOO_LARGE', reason, { details: { transactionBytes, maxTransactionBytes } })
}

const keyOf = ({ keyManager, signer, nonce }: RelayCall): ChannelKey => ({
  keyManager,
  signer,
  channel: nonce >> 128n,
})

/** Resolves when the work is done, or takes longer. The timer ends with the work: under load there would be thousands. */
function settledWithin(work: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms).unref()
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
