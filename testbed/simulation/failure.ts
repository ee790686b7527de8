import type { Plan } from './plan.ts'
import { run, type Laboratory, type Outcome } from './run.ts'

/** The most runs that are spent on making a failure smaller. */
const MOST_RUNS = 120

/** The kind of a fault that `audit` finds: `nonce`, for example. */
const kindOf = (fault: string) => fault.slice(0, fault.indexOf(':'))

/**
 * Removes from a plan what it does not need to fail in the same way: first faults of the weather, then calls, then repetitions
 * of a call.
 *
 * @param failed the outcome of the plan
 * @returns the smallest plan that was found, and its outcome
 */
export async function shrink(
  plan: Plan,
  failed: Outcome,
  laboratory: Laboratory,
): Promise<{ readonly plan: Plan; readonly outcome: Outcome; readonly runs: number }> {
  const kinds = new Set(failed.faults.map(kindOf))
  let [best, outcome, runs] = [plan, failed, 0]
  const fails = async (candidate: Plan): Promise<boolean> => {
    if (runs >= MOST_RUNS) return false
    runs++
    const found = await run(candidate, laboratory)
    if (!found.faults.some((fault) => kinds.has(kindOf(fault)))) return false
    best = candidate
    outcome = found
    return true
  }
  await without(best.faults, (faults) => fails({ ...best, faults }))
  await without(best.calls, (calls) => fails({ ...best, calls }))
  for (const index of plan.calls.keys()) {
    const call = best.calls[index]
    if (!call || call.sendings.length < 2) continue
    await without(call.sendings, (sendings) => {
      if (sendings.length === 0) return Promise.resolve(false)
      return fails({ ...best, calls: best.calls.with(index, { ...call, sendings }) })
    })
  }
  return { plan: best, outcome, runs }
}

/** Leaves out as many items as possible: halves, quarters, and so on, down to single ones. */
async function without<Item>(items: readonly Item[], isEnough: (left: Item[]) => Promise<boolean>): Promise<void> {
  let left = [...items]
  for (
    let size = Math.ceil(left.length / 2);
    size >= 1 && left.length > 0;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < left.length;) {
      const candidate = left.toSpliced(at, size)
      if (await isEnough(candidate)) left = candidate
      else at += size
    }
  }
}

/** The most lines of a story. */
const MOST_LINES = 50
const FIRST_LINES = 16
const WIDTH = 160

/** Tells a run to a reader who has not seen it: the world, the faults, the events, and the promises that were broken. */
export function tellStory({ seed, world, faults, calls }: Plan, { story }: Outcome): string {
  const { servers, nodes, isShared, blockMs, confirmations, accounts, bundleCalls, resetSeconds, unregisteredGas } =
    world
  const head = [
    `seed ${seed}: ${servers} servers on ${isShared ? 'PostgreSQL' : 'PGlite'}, ${nodes.length} nodes, ` +
      `${accounts} accounts, a block each ${blockMs} ms, final after ${confirmations}; ` +
      (bundleCalls === null ? '' : `bundles of ${bundleCalls}; `) +
      (unregisteredGas === null ? '' : `profiles are not registered; `) +
      (resetSeconds === null ? '' : `quota is reset after ${resetSeconds} s; `) +
      `${calls.length} calls, ${faults.length} faults`,
  ]
  const room = MOST_LINES - head.length
  const lines =
    story.length <= room
      ? story
      : [
          ...story.slice(0, FIRST_LINES),
          `… ${story.length - room + 1} lines …`,
          ...story.slice(story.length - (room - FIRST_LINES - 1)),
        ]
  return [...head, ...lines].map((line) => (line.length > WIDTH ? `${line.slice(0, WIDTH)}…` : line)).join('\n')
}
