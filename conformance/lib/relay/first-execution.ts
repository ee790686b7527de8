import { describe, type Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { Untestable } from '../outcome.ts'
import { nonceIn, randomChannel, signCall, type CallOptions, type RelayCall } from './call.ts'
import { execute, hashIn, isAccepted, isHash, requireExecutable } from './execute.ts'
import { readData, readNonce } from './profile.ts'
import { poll, waitForReceipt } from './receipt.ts'

/** How long another run's transaction, which may have taken the nonce, is waited for. */
const raceMs = 3000
/** In so many runs at once somebody has to be lucky. */
const attempts = 10

/** A valid call as the document has it, and the answer. */
export interface Execution {
  readonly call: RelayCall
  readonly answer: Answer
  /**
   * Whether the target takes LSP25 channels, as integers above 2^53. The document does not say that it must: where it
   * does not, the suite stays in channel 0, which runs in parallel share.
   */
  readonly takesChannels: boolean
}

/** The next nonce of the full controller in channel 0. */
export async function channelZeroNonce(t: CheckContext): Promise<bigint> {
  const { profile, controllers } = t.fixture
  return readNonce(t.chain, profile.keyManager, controllers.full.address, 0n)
}

async function isExecuted(t: CheckContext, call: RelayCall, answer: Answer): Promise<boolean> {
  if (!isAccepted(answer)) return false
  if (!t.hasChain) return true
  await waitForReceipt(t, String(hashIn(answer)))
  return (await readData(t.chain, t.fixture.profile.address, call.key)) === call.value
}

/**
 * The first execution of the run, which the clauses on what an execution is look at together. It is tried in a channel
 * of its own; where that does not work, in channel 0: the least that the document asks.
 */
export async function firstExecution(t: CheckContext): Promise<Execution> {
  return t.once('relay.first-execution', async (once) => {
    const inChannel = signCall(once, { nonce: nonceIn(randomChannel(), 0n) })
    await requireExecutable(once, inChannel)
    const first = await execute(once, inChannel.body)
    if (await isExecuted(once, inChannel, first)) return { call: inChannel, answer: first, takesChannels: true }
    if (!once.hasChain) return { call: inChannel, answer: first, takesChannels: false }
    const { call, answer } = await executeInZero(once)
    return { call, answer, takesChannels: false }
  })
}

/** Sends a valid call in channel 0. Another run may take the nonce first: then the next one is tried, a few times. */
async function executeInZero(t: CheckContext): Promise<{ call: RelayCall; answer: Answer }> {
  for (let attempt = 1; ; attempt++) {
    const call = signCall(t, { nonce: await channelZeroNonce(t) })
    const isTaken = async () => (await channelZeroNonce(t)) > call.message.nonce || undefined
    try {
      await requireExecutable(t, call)
    } catch (error) {
      if (attempt < attempts && (await isTaken())) continue
      throw error
    }
    const answer = await execute(t, call.body)
    if (isHash(hashIn(answer)) || attempt === attempts || !(await poll(isTaken, raceMs))) return { call, answer }
  }
}

/**
 * An accepted twin in channel 0.
 * @throws Untestable when it is refused
 */
export async function twinInChannelZero(t: CheckContext): Promise<void> {
  const first = await firstExecution(t)
  const { answer } = isAccepted(first.answer) ? await executeInZero(t) : first
  if (!isAccepted(answer)) throw new Untestable(`the accepted twin was refused: ${describe(answer)}`)
}

/** Calls with consecutive nonces of a channel of their own, where the target takes channels. */
export async function freshCalls(
  t: CheckContext,
  count: number,
  options: Omit<CallOptions, 'nonce'> = {},
): Promise<RelayCall[]> {
  const { takesChannels } = await firstExecution(t)
  const start = takesChannels ? nonceIn(randomChannel(), 0n) : await nonceInZero(t, options)
  return Array.from({ length: count }, (_, index) => signCall(t, { ...options, nonce: start + BigInt(index) }))
}

async function nonceInZero(t: CheckContext, options: Omit<CallOptions, 'nonce'>): Promise<bigint> {
  const { profile, controllers } = t.fixture
  return readNonce(t.chain, profile.keyManager, (options.controller ?? controllers.full).address, 0n)
}

/** One call, as `freshCalls`. */
export async function freshCall(t: CheckContext, options: Omit<CallOptions, 'nonce'> = {}): Promise<RelayCall> {
  const [call] = await freshCalls(t, 1, options)
  if (!call) throw new Error('freshCalls gave none')
  return call
}
