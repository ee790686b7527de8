import type { Timings } from '../../server/compose.ts'
import type { Effect } from './contracts.ts'
import type { Trouble } from './network.ts'
import type { NodeRules } from './node.ts'
import { createRandom, type Random } from './random.ts'

/** Everything that a seed decides before a run begins. */
export interface Plan {
  readonly seed: number
  readonly world: WorldPlan
  readonly calls: readonly CallPlan[]
  readonly faults: readonly Fault[]
  /** The time from which the weather is fine: every fault is over, and every call was sent. */
  readonly calmFromMs: number
}

export interface WorldPlan {
  /** The number of servers on one PostgreSQL. A database that is not shared is PGlite, with one server. */
  readonly servers: number
  readonly isShared: boolean
  readonly nodes: readonly NodeRules[]
  readonly blockMs: number
  readonly confirmations: number
  /** The number of accounts that pay. */
  readonly accounts: number
  /** For each server, the account whose key it lacks; null: it has all keys. Some server has each key. */
  readonly lacking: readonly (number | null)[]
  readonly profiles: number
  readonly quota: { readonly model: string; readonly options: Readonly<Record<string, unknown>> }
  /** Gas that profiles may use together in an hour, since nobody registered them; null: all are registered. */
  readonly unregisteredGas: number | null
  /** When the period of the profiles' quota ends, in seconds from the beginning; null: not during the run. */
  readonly resetSeconds: number | null
  readonly timings: Timings
  /** The most calls in one transaction; null: each call has a transaction of its own. */
  readonly bundleCalls: number | null
  /** For each server, whether it lets calls share transactions, if any does. */
  readonly bundling: readonly boolean[]
  /** Probability that a transaction gets into the next block. */
  readonly inclusion: number
}

export type Cheat = 'signature' | 'other-payload' | 'no-permission' | 'expired'

export interface CallPlan {
  /** The number of the call, which its payload contains. */
  readonly number: number
  readonly profile: number
  readonly controller: number
  readonly channel: bigint
  readonly id: bigint
  readonly effect: Effect
  /** Seconds for which the call is valid, from its first sending; null: it is always valid. */
  readonly validSeconds: number | null
  readonly cheat: Cheat | undefined
  /** Whether the call is signed for the key manager that the profile is handed to. */
  readonly isForSuccessor?: boolean
  /** Whether the call has to be executed, unless its profile has reached a limit. */
  readonly isProbe?: boolean
  readonly sendings: readonly Sending[]
}

/** One caller that sends the call, until it is answered. */
export interface Sending {
  readonly atMs: number
  readonly server: number
  /** The caller closes the connection after this time; Infinity: it waits for the answer. */
  readonly patienceMs: number
  /** Whether the caller sends the call again when it gets no answer, or a refusal after which it may try again. */
  readonly isStubborn: boolean
  readonly spelling: number
}

export type Fault = { readonly atMs: number } & (
  | { readonly kind: 'crash'; readonly server: number; readonly forMs: number }
  | { readonly kind: 'sleep'; readonly server: number; readonly forMs: number }
  | { readonly kind: 'clock'; readonly server: number; readonly byMs: number }
  | {
      readonly kind: 'trouble'
      readonly node: number
      readonly forMs: number
      readonly trouble: Trouble
      readonly share: number
    }
  | { readonly kind: 'silence'; readonly node: number; readonly forMs: number }
  | { readonly kind: 'lag'; readonly node: number; readonly forMs: number }
  | { readonly kind: 'forget'; readonly node: number }
  | {
      readonly kind: 'reorganisation'
      readonly depth: number
      readonly keeps: number
      /** Whether the first new block also holds transactions from the mempool of a node. */
      readonly takesOffered?: boolean
    }
  | { readonly kind: 'rivals'; readonly forMs: number }
  | { readonly kind: 'fee'; readonly factor: number; readonly blocks: number }
  | { readonly kind: 'steal'; readonly account: number }
  | { readonly kind: 'copies'; readonly forMs: number }
  | { readonly kind: 'poor'; readonly account: number; readonly forMs: number }
  | { readonly kind: 'full-blocks'; readonly forMs: number }
  | { readonly kind: 'cut'; readonly forMs: number }
  | {
      readonly kind: 'operator'
      readonly command: 'suspend' | 'topUp' | 'move'
      readonly profile: number
      /** After this time a suspended profile is served again. */
      readonly forMs: number
    }
  | {
      readonly kind: 'owner'
      /** A controller has less or no permissions, or the profile another key manager. */
      readonly change: 'lessen' | 'revoke' | 'hand-over'
      readonly profile: number
      readonly controller: number
      /** After this time it is again as before. */
      readonly forMs: number
    }
)

/** The latest time at which a caller or a fault begins. */
export const ACTIVE_MS = 20_000
/** The longest that a fault lasts. */
const LONGEST_MS = 12_000

const QUOTAS = [
  { model: 'gas', options: { gasPerPeriod: 20_000_000 } },
  { model: 'gas', options: { gasPerPeriod: 500_000 } },
  { model: 'lyx', options: {} },
  { model: 'transaction-count', options: {} },
] as const

const TROUBLES: readonly Trouble[] = ['slow', 'unheard', 'unanswered', 'broken', 'doubled', 'denies', 'pretends']

/**
 * A theme makes rare things frequent.
 *
 * - `order`: calls whose result depends on which of them is executed first.
 * - `expiry`: calls whose time runs out before a block holds them.
 * - `depth`: reorganisations of final blocks.
 * - `rivals`: blocks hold transactions that were replaced, because a miner has not received the replacement.
 * - `turns`: each call of a channel is sent when the call before it is mined, and reorganisations drop several of them.
 * - `returns`: the nonce of a call is used up because its time has run out, and a reorganisation goes back to before that.
 */
type Theme = 'order' | 'expiry' | 'depth' | 'rivals' | 'turns' | 'returns'
type Themes = ReadonlySet<Theme>
/** Half of the seeds have some of these. */
const COMMON_THEMES: readonly Theme[] = ['order', 'expiry', 'depth', 'rivals']
/** One seed in five has one of these, and no other theme. */
const SELDOM_THEMES: readonly Theme[] = ['turns', 'returns']

/** The plan of a seed. Each seed has some kinds of faults, and none of the other kinds. */
export function planOf(seed: number): Plan {
  const random = createRandom(seed, 'plan')
  const themes = planThemes(random)
  const world = planWorld(random.stream('world'), themes)
  const calls = planCalls(random.stream('calls'), world, themes)
  const owned = planOwners(random.stream('owners'), world, calls.length)
  const planned = [...planFaults(random.stream('faults'), world, calls, themes), ...owned.faults]
  const faults = planned.toSorted((one, other) => one.atMs - other.atMs)
  const endsMs = faults.map((fault) => fault.atMs + ('forMs' in fault ? fault.forMs : 0))
  return { seed, world, calls: [...calls, ...owned.calls], faults, calmFromMs: Math.max(ACTIVE_MS, ...endsMs) }
}

function planThemes(random: Random): Themes {
  const seldom = random.stream('seldom')
  if (seldom.chance(0.2)) return new Set([seldom.pick(SELDOM_THEMES)])
  const common = random.stream('themes')
  const isThemed = common.chance(0.5)
  return new Set(COMMON_THEMES.filter(() => isThemed && common.chance(0.5)))
}

function planWorld(random: Random, themes: Themes): WorldPlan {
  const isShared = random.chance(0.6)
  const blockMs = random.pick(themes.has('depth') || themes.has('returns') ? [1_000] : [1_000, 2_000, 4_000])
  const leastConfirmations = themes.has('turns') ? 2 : 1
  const world = {
    isShared,
    servers: isShared ? random.integer(1, 3) : 1,
    nodes: Array.from({ length: random.pick([1, 1, 2, 3]) }, () => ({
      keepsGaps: random.chance(0.7),
      bringsBack: random.chance(0.7),
      wantsBaseFee: random.chance(0.3),
    })),
    blockMs,
    confirmations: themes.has('returns')
      ? random.integer(8, 16)
      : random.integer(leastConfirmations, themes.has('depth') ? 2 : 4),
    accounts: random.integer(themes.has('order') || themes.has('turns') ? 2 : 1, 3),
    profiles: random.integer(1, 2),
    quota: random.pick(QUOTAS),
    timings: {
      replaceAfterMs: random.pick([4, 6]) * blockMs,
      resendAfterMs: random.pick([1_500, 3_000]),
      lostAfterMs: 5_000,
      refusedAfterMs: 8_000,
      lookPauseSeconds: random.pick([2, 3]),
    },
    // Drawn beside the rest, which stays what it is without them.
    unregisteredGas: random.stream('registration').pick([null, null, null, 700_000, 100_000_000]),
    resetSeconds: planReset(random.stream('reset')),
    bundleCalls: random.stream('bundles').pick([null, null, null, 2, 4, 16]),
    inclusion: random.pick([1, 1, 0.8, 0.5]),
  }
  return { ...world, ...planDifferences(random.stream('differences'), world) }
}

/** In one seed of three servers differ in their configuration, as while an operator starts one after the other with a new one. */
function planDifferences(random: Random, { servers, accounts }: Pick<WorldPlan, 'servers' | 'accounts'>) {
  const areDifferent = random.chance(0.33)
  const lacks = areDifferent && servers > 1 && accounts > 1
  const all = Array.from({ length: servers }, (_, server) => server)
  return {
    lacking: all.map((server) => (lacks && random.chance(0.7) ? server % accounts : null)),
    bundling: all.map(() => !areDifferent || random.chance(0.5)),
  }
}

/** In one seed of four the quota is reset while calls come. */
const planReset = (random: Random): number | null =>
  random.chance(0.25) ? random.integer(2, (ACTIVE_MS / 1_000) * 1.5) : null

function planCalls(random: Random, world: WorldPlan, themes: Themes): CallPlan[] {
  const { profiles, servers, bundleCalls } = world
  const calls: CallPlan[] = []
  const channels = bundleCalls === null ? random.integer(1, 4) : random.integer(3, 8)
  // Calls share a transaction only when they come at the same time.
  const burstMs = random.stream('bundles').between(500, ACTIVE_MS * 0.8)
  for (let channel = 0; channel < channels; channel++) {
    const [profile, controller] = [random.integer(0, profiles - 1), random.integer(0, 1)]
    const length = random.integer(1, 4)
    const isInBurst = bundleCalls !== null && random.chance(0.8)
    const latestMs = ACTIVE_MS * (themes.has('expiry') || themes.has('returns') ? 0.2 : 0.8)
    const startMs = isInBurst ? burstMs + random.between(0, 15) : random.between(500, latestMs)
    const hurryMs = themes.has('turns')
      ? world.blockMs * random.between(1, 2)
      : random.pick(isInBurst ? [1, 50, 1_000] : [50, 1_000, 5_000])
    for (let id = 0; id < length; id++) {
      const cheat: Cheat | undefined = random.chance(0.12)
        ? random.pick(['signature', 'other-payload', 'no-permission', 'expired'])
        : undefined
      const atMs = startMs + (random.chance(0.2) ? random.between(0, length * hurryMs) : id * hurryMs)
      const call: CallPlan = {
        number: calls.length + 1,
        profile,
        controller,
        channel: BigInt(channel),
        id: BigInt(id),
        effect: random.chance(plainShareOf(themes))
          ? 'plain'
          : random.pick(['reverts', 'throws-switch', 'needs-switch-off']),
        validSeconds: planValidity(random, themes),
        cheat: undefined,
        sendings: planSendings(random, atMs, servers),
      }
      calls.push(call)
      if (cheat) calls.push({ ...call, number: calls.length + 1, cheat, sendings: planSendings(random, atMs, servers) })
    }
  }
  return calls
}

/** The share of plain calls, whose result depends on no other call. */
function plainShareOf(themes: Themes): number {
  if (themes.has('turns')) return 1
  return themes.has('order') ? 0.2 : 0.75
}

function planValidity(random: Random, themes: Themes): number | null {
  if (themes.has('turns')) return null
  const isShort = themes.has('expiry') || themes.has('returns')
  return random.chance(isShort ? 0.7 : 0.2) ? random.integer(11, isShort ? 13 : 25) : null
}

/** When the weather has been fine for this time, servers accept calls as if there had been no faults. */
const PROBE_AFTER_MS = 10_000
const PROBE_CHANNEL = 100n

/** Calls in fine weather, one for each account. Each of them has to be accepted and executed. */
export function probesOf({ world, calls, calmFromMs }: Plan): CallPlan[] {
  return Array.from({ length: world.accounts }, (_, index) => ({
    number: calls.length + 1 + index,
    profile: index % world.profiles,
    controller: 0,
    channel: PROBE_CHANNEL + BigInt(index),
    id: 0n,
    effect: 'plain',
    validSeconds: null,
    cheat: undefined,
    isProbe: true,
    sendings: [
      {
        atMs: calmFromMs + PROBE_AFTER_MS,
        server: index % world.servers,
        patienceMs: Infinity,
        isStubborn: true,
        spelling: 0,
      },
    ],
  }))
}

const planSendings = (random: Random, atMs: number, servers: number): Sending[] =>
  Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, (_, index) => ({
    atMs: atMs + (index === 0 ? 0 : random.between(0, random.pick([20, 2_000, 10_000]))),
    server: random.integer(0, servers - 1),
    patienceMs: random.chance(0.2) ? random.between(1, 500) : Infinity,
    isStubborn: random.chance(0.8),
    spelling: random.integer(0, 3),
  }))

/** Time after the sending of a call in which a server verifies, stores and sends it. */
const ON_ITS_WAY_MS = 80
/** Faults that do most harm while a call is being stored and sent. */
const HITS_WORK: ReadonlySet<string> = new Set(['crash', 'sleep', 'cut'])

function planFaults(random: Random, world: WorldPlan, calls: readonly CallPlan[], themes: Themes): Fault[] {
  const sentAtMs = calls.flatMap(({ sendings }) => sendings.map(({ atMs }) => atMs)).filter((atMs) => atMs < ACTIVE_MS)
  const momentOf = (kind: string) =>
    HITS_WORK.has(kind) && sentAtMs.length > 0 && random.chance(0.6)
      ? random.pick(sentAtMs) + random.between(0, ON_ITS_WAY_MS)
      : random.between(0, ACTIVE_MS)
  const makers = faultMakers(random, world, themes)
  const kinds = random.shuffled(Object.keys(makers)).slice(0, random.integer(0, 5))
  // Many mistakes show only when the chain goes back.
  if (random.chance(0.3)) kinds.push('reorganisation', 'reorganisation')
  const count = kinds.length === 0 ? 0 : random.integer(1, 8)
  const faults = Array.from({ length: count }, () => {
    const kind = random.pick(kinds)
    return { atMs: momentOf(kind), ...makers[kind]?.() }
  }) as Fault[]
  const themed = [...themedFaults(random, themes, makers), ...returns(random, world, calls, themes)]
  const drawnBeside = [...copies(random.stream('copies')), ...commands(random.stream('operator'), world)]
  return [...faults, ...themed, ...drawnBeside]
}

/** Faults of the themes: full blocks until calls have run out of time, and then reorganisations. */
function themedFaults(random: Random, themes: Themes, makers: Readonly<Record<string, Maker>>): Fault[] {
  if (themes.size === 0 || themes.has('returns')) return []
  const reorganisation = (fromMs: number, toMs: number): Fault => ({
    ...(makers['reorganisation']?.() as Extract<Fault, { kind: 'reorganisation' }>),
    atMs: random.between(fromMs, toMs),
  })
  const faults = Array.from({ length: random.integer(1, 3) }, () => reorganisation(ACTIVE_MS * 0.4, ACTIVE_MS))
  if (themes.has('expiry') || (themes.has('order') && random.chance(0.4))) {
    const full = {
      kind: 'full-blocks',
      atMs: random.between(500, 2_500),
      forMs: random.between(8_000, 15_000),
    } as const
    const endsMs = full.atMs + full.forMs
    faults.push(full, reorganisation(endsMs + 500, endsMs + 6_000))
  }
  if (themes.has('rivals')) {
    faults.push({ kind: 'rivals', atMs: 0, forMs: ACTIVE_MS })
    for (const { atMs } of faults.filter(({ kind }) => kind === 'reorganisation' && random.chance(0.4))) {
      const steal = makers['steal']?.() as Extract<Fault, { kind: 'steal' }>
      faults.push({ ...steal, atMs: Math.min(ACTIVE_MS, atMs + random.between(0, 5_000)) })
    }
  }
  return faults
}

/**
 * Faults of the theme `returns`. No block holds the call until its time has run out and its nonce is used up. Then the chain
 * goes back to before that, and its new blocks hold the first transaction of the nonce or a later one.
 */
function returns(random: Random, world: WorldPlan, calls: readonly CallPlan[], themes: Themes): Fault[] {
  const call = calls.find(({ validSeconds, cheat }) => validSeconds !== null && cheat === undefined)
  if (!themes.has('returns') || call?.validSeconds == null) return []
  const [sentMs = 0] = call.sendings.map(({ atMs }) => atMs)
  const endsMs = sentMs + call.validSeconds * 1_000 + random.between(1_000, 3_000)
  const reorganisations = Array.from({ length: random.integer(2, 4) }, (_, index): Fault => ({
    kind: 'reorganisation',
    atMs: endsMs + random.between(1_500, 5_000) + index * random.between(500, 4_000),
    depth: random.chance(0.5) ? world.confirmations : random.integer(4, world.confirmations),
    keeps: random.pick([0, 0.7, 1, 1]),
    takesOffered: true,
  }))
  return [
    { kind: 'rivals', atMs: 0, forMs: endsMs + LONGEST_MS },
    { kind: 'full-blocks', atMs: Math.max(0, sentMs - 500), forMs: endsMs - sentMs + 500 },
    ...reorganisations,
  ]
}

/** Somebody copies calls out of the mempool in one seed of four. Drawn beside the rest, which stays what it is. */
function copies(random: Random): Fault[] {
  if (!random.chance(0.25)) return []
  return [{ kind: 'copies', atMs: random.between(0, ACTIVE_MS / 2), forMs: random.between(2_000, LONGEST_MS) }]
}

/** An operator gives commands about profiles in one seed of three where that is possible: they are registered, and the database is shared. */
function commands(random: Random, { isShared, profiles, unregisteredGas }: WorldPlan): Fault[] {
  if (!isShared || unregisteredGas !== null || !random.chance(0.33)) return []
  return Array.from({ length: random.integer(1, 4) }, () => ({
    kind: 'operator',
    atMs: random.between(0, ACTIVE_MS),
    command: random.pick(['suspend', 'topUp', 'move']),
    profile: random.integer(0, profiles - 1),
    forMs: random.between(500, LONGEST_MS),
  }))
}

/** The first channel of calls for another key manager. */
const SUCCESSOR_CHANNEL = 50n

/**
 * Owners of profiles change something on the chain in one seed of four. A profile with another key manager gets calls that
 * are signed for that one, in channels that begin anew.
 */
function planOwners(random: Random, { profiles, servers }: WorldPlan, before: number) {
  if (!random.chance(0.25)) return { faults: [], calls: [] }
  const faults = Array.from({ length: random.integer(1, 3) }, () => ({
    kind: 'owner' as const,
    atMs: random.between(0, ACTIVE_MS),
    change: random.pick(['lessen', 'revoke', 'hand-over', 'hand-over'] as const),
    profile: random.integer(0, profiles - 1),
    controller: random.integer(0, 1),
    forMs: random.between(2_000, LONGEST_MS),
  }))
  const calls = faults.flatMap(({ change, atMs, forMs, profile, controller }, index): CallPlan[] => {
    if (change !== 'hand-over') return []
    return Array.from({ length: random.integer(1, 3) }, (_, id) => ({
      number: 0,
      profile,
      controller,
      channel: SUCCESSOR_CHANNEL + BigInt(index),
      id: BigInt(id),
      effect: 'plain',
      validSeconds: null,
      cheat: undefined,
      isForSuccessor: true,
      sendings: planSendings(random, atMs + random.between(0, forMs), servers),
    }))
  })
  return { faults, calls: calls.map((call, index) => ({ ...call, number: before + index + 1 })) }
}

type Maker = () => Omit<Fault, 'atMs'>

function faultMakers(random: Random, world: WorldPlan, themes: Themes): Readonly<Record<string, Maker>> {
  const server = () => random.integer(0, world.servers - 1)
  const node = () => random.integer(0, world.nodes.length - 1)
  const account = () => random.integer(0, world.accounts - 1)
  const forMs = () => random.between(500, LONGEST_MS)
  const one = (fault: Omit<Fault, 'atMs'> & Readonly<Record<string, unknown>>) => fault
  // A reorganisation that goes deeper than the final blocks may change the order of calls.
  const deepShare = themes.has('turns') ? 0 : themes.has('depth') ? 0.8 : 0.25
  const makers: Record<string, Maker> = {
    crash: () => one({ kind: 'crash', server: server(), forMs: random.between(100, 5_000) }),
    sleep: () => one({ kind: 'sleep', server: server(), forMs: random.pick([300, 2_000, 4_000, 10_000]) }),
    clock: () => one({ kind: 'clock', server: server(), byMs: random.pick([-30_000, -1_500, 1_500, 30_000]) }),
    trouble: () => {
      const share = random.pick([0.1, 0.3, 0.7])
      return one({ kind: 'trouble', node: node(), forMs: forMs(), trouble: random.pick(TROUBLES), share })
    },
    silence: () => one({ kind: 'silence', node: node(), forMs: forMs() }),
    lag: () => one({ kind: 'lag', node: node(), forMs: forMs() }),
    forget: () => one({ kind: 'forget', node: node() }),
    reorganisation: () =>
      one({
        kind: 'reorganisation',
        depth: random.integer(1, world.confirmations + (random.chance(deepShare) ? 3 : 0)),
        keeps: random.pick([0, 0.5, 1]),
      }),
    rivals: () => one({ kind: 'rivals', forMs: forMs() }),
    fee: () => one({ kind: 'fee', factor: random.pick([1.3, 1.6, 0.7]), blocks: random.integer(1, 6) }),
    steal: () => one({ kind: 'steal', account: account() }),
    poor: () => one({ kind: 'poor', account: account(), forMs: forMs() }),
    'full-blocks': () => one({ kind: 'full-blocks', forMs: forMs() }),
  }
  if (world.isShared) makers['cut'] = () => one({ kind: 'cut', forMs: random.between(200, 4_000) })
  return makers
}
