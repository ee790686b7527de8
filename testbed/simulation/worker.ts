import { plant } from './planted.ts'
import type { Found, Order } from './simulate.ts'

// A process that does nothing but simulate, because a simulation replaces the clocks of its process. The argument names a
// fault to plant in the code.

const [planted] = process.argv.slice(2)
if (planted) plant(planted)
// A fault is planted before the code is loaded, so the code is imported here.
const [{ openLaboratory, run }, { planOf }, { shrink, tellStory }] = await Promise.all([
  import('./run.ts'),
  import('./plan.ts'),
  import('./failure.ts'),
])
const laboratory = await openLaboratory()

async function simulate({ seed, isTraced, isShrunk }: Order): Promise<Found> {
  const plan = planOf(seed)
  const outcome = await run(plan, laboratory)
  const { faults, digest, virtualMs, accepted, bundles, copies, transitions } = outcome
  const found = { seed, faults, digest, virtualMs, accepted, bundles, copies, transitions, cpuMs: 0 }
  if (isTraced) return { ...found, story: outcome.trace.join('\n') }
  if (faults.length === 0) return found
  const least = isShrunk ? await shrink(plan, outcome, laboratory) : { plan, outcome }
  return { ...found, story: tellStory(least.plan, least.outcome) }
}

process.on('message', (order: Order) => {
  const before = process.cpuUsage()
  void simulate(order).then((found) => {
    const { user, system } = process.cpuUsage(before)
    process.send?.({ ...found, cpuMs: (user + system) / 1000 })
  })
})
// Whoever gives the orders has ended.
process.on('disconnect', () => process.exit())
process.send?.('ready')
