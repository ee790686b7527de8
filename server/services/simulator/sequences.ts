import { ServiceError } from '../../core/errors.ts'
import { UpstreamRpcError, type Upstream } from '../node/upstream.ts'
import { microBatch } from '../../concurrency/micro-batch.ts'
import artifact from './sequences.json' with { type: 'json' }

/** One call of a sequence. */
export interface Step {
  readonly to: string
  /** The most gas that the step gets. */
  readonly gasLimit: bigint
  readonly data: string
}

/** The outcome of one step. */
export interface Outcome {
  /** Whether the step ran; false when the node gives an eth_call too little gas. */
  readonly ran: boolean
  readonly success: boolean
  /** Gas of the call itself, without the costs of a transaction. */
  readonly gasUsed: bigint
  /** Result or revert data, at most 1024 bytes. */
  readonly returnData: string
}

/** Sequences of steps that run on the same block. Each runs as if it were alone. */
export interface Simulation {
  readonly sequences: readonly (readonly Step[])[]
  /** Whether a step may run with less gas than its limit when the node gives no more. Default false. */
  readonly lenient?: boolean
  /** Storage that differs from the chain: by address, the value of each slot. */
  readonly storage?: StorageOverride
}

export type StorageOverride = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface SequenceRunner {
  /**
   * Runs on the latest block. Simulations that are asked for together share one eth_call.
   *
   * @returns the outcomes, shaped as the sequences
   * @throws ServiceError UPSTREAM_UNAVAILABLE
   */
  run(simulation: Simulation): Promise<Outcome[][]>
}

/** The address at which the code stands during an eth_call. Nobody has a key for it. */
const RUNNER_ADDRESS = '0x00000000000000000000000000005e9ce5e9ce5e'
/**
 * How simulations share an eth_call. All of them wait for the slowest, so their number is bounded. Under load few large
 * calls are made, which cost the node, the ledger and this process less. A slow or distant node gets several calls at a
 * time.
 */
const gathering = { maxItems: 32, maxRuns: 4, gatherMs: 25 } as const

/**
 * @param from the sender that the calls see as `tx.origin`
 */
export function createSequenceRunner({ upstream, from }: { upstream: Upstream; from: string }): SequenceRunner {
  async function call(simulations: readonly Simulation[], strict: boolean): Promise<Outcome[][][]> {
    const sequences = simulations.flatMap((simulation) => simulation.sequences)
    const data = encodeRun(sequences, strict)
    const overrides: Record<string, object> = { [RUNNER_ADDRESS]: { code: artifact.runtimeCode } }
    for (const { storage = {} } of simulations) {
      for (const [address, stateDiff] of Object.entries(storage)) {
        const known = overrides[address] as { stateDiff: object } | undefined
        overrides[address] = { stateDiff: { ...known?.stateDiff, ...stateDiff } }
      }
    }
    const result = await upstream.request<string>('eth_call', [{ from, to: RUNNER_ADDRESS, data }, 'latest', overrides])
    const outcomes = decodeOutcomes(result, sequences)
    let next = 0
    return simulations.map((simulation) => simulation.sequences.map(() => outcomes[next++] ?? []))
  }

  async function alone(simulation: Simulation): Promise<Outcome[][]> {
    try {
      const [outcomes] = await call([simulation], simulation.lenient !== true)
      return outcomes ?? []
    } catch (cause) {
      if (!(cause instanceof UpstreamRpcError)) throw cause
      throw new ServiceError('UPSTREAM_UNAVAILABLE', 'the node refuses to simulate', { cause })
    }
  }

  async function together(simulations: readonly Simulation[]): Promise<(Outcome[][] | Error)[]> {
    if (simulations.length === 1 && simulations[0]) return [await alone(simulations[0])]
    let outcomes: Outcome[][][]
    try {
      outcomes = await call(simulations, true)
    } catch (error) {
      // One simulation may be more than the node takes: each is tried alone, so that the others succeed.
      if (!(error instanceof UpstreamRpcError)) throw error
      outcomes = simulations.map(() => [[notRun]])
    }
    return Promise.all(
      simulations.map(async (simulation, index) => {
        const own = outcomes[index] ?? []
        return own.flat().every(({ ran }) => ran) ? own : alone(simulation).catch(asError)
      }),
    )
  }

  const runPlain = microBatch(together, gathering)
  const runOverridden = microBatch(async (simulations: readonly Simulation[]) => {
    const answers = new Map<Simulation, Outcome[][] | Error>()
    await Promise.all(
      withoutConflicts(simulations).map(async (group) => {
        const outcomes = await together(group).catch((error: unknown) => group.map(() => asError(error)))
        group.forEach((simulation, index) => answers.set(simulation, outcomes[index] ?? []))
      }),
    )
    return simulations.map((simulation) => answers.get(simulation) ?? [])
  }, gathering)
  return { run: (simulation) => (simulation.storage ? runOverridden : runPlain)(simulation) }
}

/** The call data that `sequences.yul` reads. */
function encodeRun(sequences: Simulation['sequences'], strict: boolean): string {
  const encoded = sequences.map((sequence) => {
    const steps = sequence.map(({ to, gasLimit, data }) => {
      return `${to.slice(2)}${digits(gasLimit, 16)}${digits(data.length / 2 - 1, 8)}${data.slice(2)}`
    })
    const hex = steps.join('')
    return `${digits(hex.length / 2, 8)}${hex}`
  })
  return `0x${strict ? '01' : '00'}${encoded.join('')}`
}

const digits = (value: bigint | number, length: number) => value.toString(16).padStart(length, '0')

/** The result that `sequences.yul` gives. */
function decodeOutcomes(result: string, sequences: Simulation['sequences']): Outcome[][] {
  const bytes = Buffer.from(result.slice(2), 'hex')
  if (bytes.length === 0) {
    // The account without code that stands where the runner should have been.
    throw new ServiceError('UPSTREAM_UNAVAILABLE', 'the node does not follow the state overrides of eth_call')
  }
  let at = 0
  return sequences.map((steps) => {
    const end = at + 4 + bytes.readUInt32BE(at)
    at += 4
    return steps.map(() => {
      if (at >= end) return notRun
      const size = bytes.readUInt32BE(at + 28)
      const outcome = {
        ran: true,
        success: bytes[at] === 1,
        gasUsed: bytes.readBigUInt64BE(at + 8),
        returnData: `0x${bytes.toString('hex', at + 32, at + 32 + size)}`,
      }
      at += 32 + size
      return outcome
    })
  })
}

const notRun: Outcome = { ran: false, success: false, gasUsed: 0n, returnData: '0x' }

/** Groups in which no two simulations override the same slot. */
function withoutConflicts(simulations: readonly Simulation[]): Simulation[][] {
  const groups: { members: Simulation[]; slots: Set<string> }[] = []
  for (const simulation of simulations) {
    const slots = Object.entries(simulation.storage ?? {}).flatMap(([address, diff]) =>
      Object.keys(diff).map((slot) => `${address}:${slot}`),
    )
    let group = groups.find((one) => !slots.some((slot) => one.slots.has(slot)))
    if (!group) groups.push((group = { members: [], slots: new Set() }))
    group.members.push(simulation)
    for (const slot of slots) group.slots.add(slot)
  }
  return groups.map(({ members }) => members)
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
