import { getBytes, decryptKeystoreJson } from 'ethers'
import secp256k1 from 'secp256k1'
import type { Logger } from 'pino'
import { addressOf } from '../../ethereum/signature.ts'
import { signTransaction, type SignedTransaction, type UnsignedTransaction } from '../../ethereum/transaction.ts'
import { ConfigError, ServiceError } from '../../core/errors.ts'
import type { Secrets } from '../../config/environment.ts'
import type { Upstream } from '../node/upstream.ts'
import type { Clock } from '../clock.ts'

/** An account that pays for relay calls. Its key is in a closure, so that nothing can read or print it. */
export interface SignerAccount {
  /** Checksummed. */
  readonly address: string
  sign(transaction: UnsignedTransaction): SignedTransaction
}

/** @param privateKey 0x and 32 bytes */
export function signerFromKey(privateKey: string): SignerAccount {
  const key = getBytes(privateKey)
  const address = addressOf(secp256k1.publicKeyCreate(key, false))
  return { address, sign: (transaction) => signTransaction(transaction, key) }
}

/**
 * Opens encrypted JSON keystores (Web3 Secret Storage).
 *
 * @throws ConfigError naming the file; never a password or a key
 */
export async function openKeystores(keystores: Secrets['keystores']): Promise<SignerAccount[]> {
  return Promise.all(
    keystores.map(async ({ file, json, password }) => {
      let privateKey: string
      try {
        privateKey = (await decryptKeystoreJson(json, password)).privateKey
      } catch {
        // The cause is left out, because it may quote the password or the key.
        throw new ConfigError([`signers/keystores: ${file} cannot be opened: no keystore, or another password`])
      }
      return signerFromKey(privateKey)
    }),
  )
}

/** Knows the accounts that send relay calls: which of them is free, and which can pay. */
export interface Signers {
  readonly accounts: readonly SignerAccount[]
  readonly byAddress: (address: string) => SignerAccount | undefined
  /**
   * Chooses the account with the fewest transactions under way among those that can pay. The transaction counts for the
   * account until `done` is called. Its cost counts as spent until the ledger or the balance shows it.
   *
   * @param required the account that sends the calls before this one in the channel. Transactions of another account could
   *   be mined before those
   * @throws ServiceError SIGNERS_UNAVAILABLE no account can pay, or the required account is not one of this server
   */
  choose(maxCostWei: bigint, required?: string): Promise<{ readonly account: SignerAccount; readonly done: () => void }>
  /** Reads every balance, and logs a warning for each one below the threshold. */
  refresh(): Promise<void>
  /** Leaves an account out of the choice while the node refuses its next transaction. */
  leaveOut(address: string, isLeftOut: boolean): void
  /** Leaves an account out of the choice for a time, because another process holds it. */
  setAside(address: string, ms: number): void
  /**
   * @returns `degraded` when some account is left out of the choice
   * @throws ServiceError SIGNERS_UNAVAILABLE when every account is empty, or left out
   */
  assertAble(): Promise<'ok' | 'degraded'>
  /** The state of each account, as it was last seen. */
  states(): readonly SignerState[]
}

/** The state of an account. */
export interface SignerState {
  readonly address: string
  readonly balanceWei: bigint
  /** The balance is below the threshold of the configuration. */
  readonly isLow: boolean
  /** The node refuses the account's next transaction. */
  readonly isLeftOut: boolean
}

interface SignersOptions {
  readonly accounts: readonly SignerAccount[]
  readonly upstream: Upstream
  readonly clock: Clock
  readonly log: Logger
  readonly lowBalanceWei: bigint
  /** The most that the account's transactions in the ledger can cost that are not mined, in wei. */
  readonly pendingCostWei: (address: string) => Promise<bigint>
  /** Whether the ledger says, by this process or another one, that the node refuses the account's next transaction. */
  readonly isRefused: (address: string) => Promise<boolean>
}

/** A balance is read anew when it is older than this. */
const BALANCE_VALID_MS = 5_000
const RETRY_SECONDS = 30
const HELD_RETRY_SECONDS = 2

interface Choice {
  readonly costWei: bigint
  isDone: boolean
}

interface State {
  readonly account: SignerAccount
  balanceWei: bigint
  /** Cost of the transactions that were not mined, by the ledger, when the balance was read. */
  pendingWei: bigint
  /** The transactions for which it was chosen since then. */
  choices: Set<Choice>
  /** The sum of their costs. */
  promisedWei: bigint
  /** How many of them are not done. */
  underWay: number
  isLow: boolean
  isLeftOut: boolean
  /** Until then another process holds it, by the monotonic clock. */
  asideUntilMs: number
}

export function createSigners(options: SignersOptions): Signers {
  const { accounts, clock, log } = options
  const balances = createBalances(options)
  const { states, refresh } = balances
  const stateOf = (address: string) => states.find(({ account }) => account.address === address)
  return {
    accounts,
    byAddress: (address) => stateOf(address)?.account,
    choose: async (maxCostWei, required) => {
      const candidates = states.filter(({ account }) => required === undefined || account.address === required)
      if (candidates.length === 0) {
        throw unavailable(`the calls before this one are sent by ${required}, which is no account of this server`)
      }
      await balances.beRead()
      let state = pick(maxCostWei, candidates, clock.monotonicMs())
      if (!state) {
        await refresh()
        state = pick(maxCostWei, candidates, clock.monotonicMs())
      }
      if (!state) throw whyNone(candidates, clock.monotonicMs())
      return { account: state.account, done: promise(state, maxCostWei) }
    },
    refresh,
    leaveOut: (address, isLeftOut) => {
      const state = stateOf(address)
      if (state) leaveOut(state, isLeftOut, log)
    },
    setAside: (address, ms) => {
      const state = stateOf(address)
      if (state) state.asideUntilMs = clock.monotonicMs() + ms
    },
    assertAble: async () => {
      await refresh()
      if (states.every((state) => spendable(state) <= 0n)) throw unavailable('no account of the relayer has a balance')
      if (states.every(({ isLeftOut }) => isLeftOut)) throw unavailable('the node refuses what every account sends')
      return states.some(({ isLeftOut }) => isLeftOut) ? 'degraded' : 'ok'
    },
    states: () =>
      states.map(({ account: { address }, balanceWei, isLow, isLeftOut }) => ({
        address,
        balanceWei,
        isLow,
        isLeftOut,
      })),
  }
}

/** The state of every account, and how its balance gets there. */
function createBalances({ accounts, upstream, clock, log, lowBalanceWei, pendingCostWei, isRefused }: SignersOptions) {
  const states: State[] = accounts.map((account) => ({
    account,
    balanceWei: 0n,
    pendingWei: 0n,
    choices: new Set(),
    promisedWei: 0n,
    underWay: 0,
    isLow: false,
    isLeftOut: false,
    asideUntilMs: -Infinity,
  }))
  let readAtMs = -Infinity
  let reading: Promise<void> | undefined

  async function readOne(state: State): Promise<void> {
    const { address } = state.account
    // A choice that is done now is in the ledger, or is mined before the balance is read.
    const doneBefore = [...state.choices].filter(({ isDone }) => isDone)
    const pendingWei = await pendingCostWei(address)
    state.balanceWei = BigInt(await upstream.request<string>('eth_getBalance', [address, 'latest']))
    state.pendingWei = pendingWei
    leaveOut(state, await isRefused(address), log)
    for (const choice of doneBefore) {
      state.choices.delete(choice)
      state.promisedWei -= choice.costWei
    }
    const isLow = state.balanceWei < lowBalanceWei
    if (isLow && !state.isLow) {
      log.warn({ signer: address, balanceWei: String(state.balanceWei) }, 'the balance of a signer is low')
    }
    state.isLow = isLow
  }

  async function read(): Promise<void> {
    await Promise.all(states.map(readOne))
    readAtMs = clock.monotonicMs()
  }

  const refresh = () => (reading ??= read().finally(() => (reading = undefined)))
  return {
    states,
    refresh,
    /** Waits for the first reading. Later, an old balance is good enough while some account can pay. */
    beRead: async (): Promise<void> => {
      if (readAtMs === -Infinity) await refresh()
      else if (clock.monotonicMs() - readAtMs > BALANCE_VALID_MS) refresh().catch(() => {})
    },
  }
}

function leaveOut(state: State, isLeftOut: boolean, log: Logger): void {
  const { address } = state.account
  if (isLeftOut && !state.isLeftOut) log.error({ signer: address }, 'the node refuses the next transaction of a signer')
  if (!isLeftOut && state.isLeftOut) log.info({ signer: address }, 'the node takes the transactions of a signer again')
  state.isLeftOut = isLeftOut
}

/** The account with the fewest transactions under way among those that can pay; undefined: there is none. */
function pick(maxCostWei: bigint, candidates: readonly State[], nowMs: number): State | undefined {
  const isFree = ({ isLeftOut, asideUntilMs }: State) => !isLeftOut && asideUntilMs <= nowMs
  return candidates
    .filter((state) => isFree(state) && spendable(state) >= maxCostWei)
    .reduce<State | undefined>((best, one) => (best && best.underWay <= one.underWay ? best : one), undefined)
}

/** Counts a transaction for the account. @returns called when the transaction is no longer under way */
function promise(state: State, costWei: bigint): () => void {
  const choice: Choice = { costWei, isDone: false }
  state.choices.add(choice)
  state.promisedWei += costWei
  state.underWay++
  return () => {
    choice.isDone = true
    state.underWay--
  }
}

function whyNone(candidates: readonly State[], nowMs: number): ServiceError {
  if (candidates.some(({ asideUntilMs }) => asideUntilMs > nowMs)) {
    return unavailable('another process holds the account', HELD_RETRY_SECONDS)
  }
  return unavailable(
    candidates.every(({ isLeftOut }) => isLeftOut)
      ? 'the node refuses the transactions of the account now'
      : 'no account of the relayer can pay for this transaction now',
  )
}

const spendable = ({ balanceWei, pendingWei, promisedWei }: State) => balanceWei - pendingWei - promisedWei

const unavailable = (reason: string, retryAfterSeconds = RETRY_SECONDS) =>
  new ServiceError('SIGNERS_UNAVAILABLE', reason, { retryAfterSeconds })
