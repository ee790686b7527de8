import { createRegistrations, type Registrations } from '../../server/services/ledger/accounts.ts'
import type { Plans } from '../../server/services/quotas/plans.ts'
import { profilesOf } from './callers.ts'
import type { Cluster } from './cluster.ts'
import type { Fault, Plan } from './plan.ts'
import { EPOCH_MS, type Process, type WorldTime } from './world-time.ts'

export interface OperatorOptions {
  readonly time: WorldTime
  readonly plan: Plan
  readonly cluster: Cluster
  /** The quota plans of the servers. */
  readonly plans: Plans
}

/** A time in which a profile was certainly suspended: from the end of a command to the beginning of the next, in ms of the run. */
export interface Suspension {
  readonly profile: string
  readonly fromMs: number
  toMs: number
}

type Command = Extract<Fault, { kind: 'operator' }>

/** The name of the plan that every profile begins with, and of the one that an operator moves it to. */
export const PLAN_NAMES = ['default', 'other'] as const
const RETRY_MS = 1_000
const TOP_UP = 1_000_000n

type Given = () => Promise<unknown>

/**
 * Gives commands about profiles (`touchstone profiles`) in a process of its own on the database of the servers, one after
 * the other. A command that fails is given again.
 */
export class Operator {
  readonly #options: OperatorOptions
  readonly #process: Process = { name: 'operator', isAlive: true, sleepsUntilMs: 0, aheadMs: 0, planned: 0 }
  readonly #profiles: Registrations
  /** The commands that are not done yet, the first one first. */
  readonly #given: Given[] = []
  readonly suspensions: Suspension[] = []

  constructor(options: OperatorOptions) {
    const { time, cluster, plans } = options
    const clock = { nowMs: () => Math.floor(EPOCH_MS + time.nowMs), monotonicMs: () => time.nowMs }
    this.#options = options
    this.#profiles = createRegistrations({ db: cluster.open(this.#process).db, plans, clock })
  }

  begin({ command, profile, forMs }: Command): void {
    const { plan, time } = this.#options
    const address = profilesOf(plan)[profile]?.address ?? ''
    switch (command) {
      case 'topUp':
        return this.#give(() => this.#profiles.topUp(address, TOP_UP))
      case 'move':
        return this.#give(async () => {
          const { plan: before } = await this.#profiles.show(address)
          await this.#profiles.move(address, before === PLAN_NAMES[0] ? PLAN_NAMES[1] : PLAN_NAMES[0])
        })
      case 'suspend':
        this.#give(async () => {
          await this.#profiles.suspend(address)
          this.suspensions.push({ profile: address, fromMs: time.nowMs, toMs: Infinity })
        })
        time.after(forMs, this.#process, () =>
          this.#give(() => {
            for (const one of this.suspensions) if (one.profile === address) one.toMs = Math.min(one.toMs, time.nowMs)
            return this.#profiles.resume(address)
          }),
        )
    }
  }

  #give(command: Given): void {
    this.#given.push(command)
    if (this.#given.length === 1) this.#next(0)
  }

  #next(afterMs: number): void {
    const { time } = this.#options
    time.after(afterMs, this.#process, () => {
      void this.#given[0]?.().then(
        () => {
          this.#given.shift()
          if (this.#given.length > 0) this.#next(0)
        },
        (error: Error) => {
          time.tell(`the operator's command failed: ${error.message}`)
          this.#next(RETRY_MS)
        },
      )
    })
  }
}
