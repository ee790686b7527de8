import type { Logger } from 'pino'
import { ServiceError } from '../../core/errors.ts'
import type { Upstream } from '../chain/upstream.ts'
import type { Clock } from '../clock.ts'
import type { SignerAccount } from './signer-account.ts'

/** The accounts that send relay calls: which is free, which can pay. */
export interface Signers {
  readonly accounts: readonly SignerAccount[]
  readonly byAddress: (address: string) => SignerAccount | undefined
  /**
   * The account with the least to do among those that can pay. What it is chosen for counts as its load until `done`,
   * and its cost as spent until the ledger or the balance shows it.
   *
   * @param required the account that has the calls before this one in the channel: another account's transactions may
   *   be mined before those
   * @throws ServiceError SIGNERS_UNAVAILABLE when none can pay, or the one that is required is not ours
   */
  choose(maxCostWei: bigint, required?: string): Promise<{ readonly account: SignerAccount; readonly done: () => void }>
  /** Reads every balance, and warns below the threshold. */
  refresh(): Promise<void>
  /** @throws ServiceError SIGNERS_UNAVAILABLE when every account is empty */
  assertAble(): Promise<void>
  /** What is known of the balances, wei by address. */
  balances(): ReadonlyMap<string, bigint>
}

export interface SignersOptions {
  readonly accounts: readonly SignerAccount[]
  readonly upstream: Upstream
  readonly clock: Clock
  readonly log: Logger
  readonly lowBalanceWei: bigint
  /** The most that the account's transactions can cost that the ledger holds and that are not mined, in wei. */
  readonly pendingCostWei: (address: string) => Promise<bigint>
}

/** Balances are believed for so long. */
const BALANCE_VALID_MS = 5_000
const RETRY_SECONDS = 30

interface Choice {
  readonly costWei: bigint
  isDone: boolean
}

interface State {
  readonly account: SignerAccount
  balanceWei: bigint
  /** What is sent and not mined, as the ledger had it when the balance was read. */
  pendingWei: bigint
  /** What it was chosen for since. */
  choices: Set<Choice>
  /** The sum of their costs. */
  promisedWei: bigint
  /** How many of them are not done. */
  underWay: number
  isLow: boolean
}

export function createSigners(options: SignersOptions): Signers {
  const { accounts, upstream, clock, log, lowBalanceWei, pendingCostWei } = options
  const states: State[] = accounts.map((account) => ({
    account,
    balanceWei: 0n,
    pendingWei: 0n,
    choices: new Set(),
    promisedWei: 0n,
    underWay: 0,
    isLow: false,
  }))
  let readAtMs = -Infinity
  let reading: Promise<void> | undefined

  async function readOne(state: State): Promise<void> {
    const { address } = state.account
    // What is done by now is in the ledger, or mined before the balance is read.
    const doneBefore = [...state.choices].filter(({ isDone }) => isDone)
    const pendingWei = await pendingCostWei(address)
    state.balanceWei = BigInt(await upstream.request<string>('eth_getBalance', [address, 'latest']))
    state.pendingWei = pendingWei
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
    readAtMs = clock.nowMs()
  }

  const refresh = () => (reading ??= read().finally(() => (reading = undefined)))

  function pick(maxCostWei: bigint, candidates: readonly State[]): State | undefined {
    const able = candidates.filter((state) => spendable(state) >= maxCostWei)
    return able.reduce<State | undefined>(
      (best, one) => (best && best.underWay <= one.underWay ? best : one),
      undefined,
    )
  }

  return {
    accounts,
    byAddress: (address) => accounts.find((account) => account.address === address),
    choose: async (maxCostWei, required) => {
      const candidates = states.filter(({ account }) => required === undefined || account.address === required)
      if (candidates.length === 0) {
        throw unavailable(`the calls before this one are sent by ${required}, which is no account of this server`)
      }
      if (readAtMs === -Infinity) await refresh()
      // Stale is good enough while somebody can pay.
      else if (clock.nowMs() - readAtMs > BALANCE_VALID_MS) refresh().catch(() => {})
      let state = pick(maxCostWei, candidates)
      if (!state) {
        await refresh()
        state = pick(maxCostWei, candidates)
      }
      if (!state) {
        throw unavailable('no account of the relayer can pay for this transaction now')
      }
      const { account } = state
      const choice: Choice = { costWei: maxCostWei, isDone: false }
      state.choices.add(choice)
      state.promisedWei += maxCostWei
      state.underWay++
      const done = () => {
        choice.isDone = true
        state.underWay--
      }
      return { account, done }
    },
    refresh,
    assertAble: async () => {
      await refresh()
      if (states.every((state) => spendable(state) <= 0n)) throw unavailable('no account of the relayer has a balance')
    },
    balances: () => new Map(states.map(({ account, balanceWei }) => [account.address, balanceWei])),
  }
}

const spendable = ({ balanceWei, pendingWei, promisedWei }: State) => balanceWei - pendingWei - promisedWei

const unavailable = (reason: string) =>
  new ServiceError('SIGNERS_UNAVAILABLE', reason, { retryAfterSeconds: RETRY_SECONDS })
