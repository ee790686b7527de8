import type { Plan } from './plan.ts'
import type { Outcome } from './run.ts'

/** The most lines of a story. */
const MOST_LINES = 50
const FIRST_LINES = 16
const WIDTH = 160

/** What happened, for a reader who has not seen it: the world, the faults, the events, and what was broken. */
export function tellStory({ seed, world, faults, calls }: Plan, { story }: Outcome): string {
  const { servers, nodes, isShared, blockMs, confirmations, accounts, bundleCalls } = world
  const head = [
    `seed ${seed}: ${servers} servers on ${isShared ? 'PostgreSQL' : 'PGlite'}, ${nodes.length} nodes, ` +
      `${accounts} accounts, a block each ${blockMs} ms, final after ${confirmations}; ` +
      (bundleCalls === null ? '' : `bundles of ${bundleCalls}; `) +
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
