import { createPoster, signedCall } from '../relay-world.ts'

/** Clients that send one call after the other, each in a channel of its own, and try again until they are answered. */
export interface Callers {
  /** What the relay has taken. */
  readonly acknowledged: readonly Acknowledged[]
  /** Answers that were no success, by code. */
  readonly refusals: Readonly<Record<string, number>>
  /** Attempts that got no answer. */
  readonly unanswered: number
  /** Takes no new calls; resolves when those begun are answered. @throws Error when one was not, for a minute */
  finish(): Promise<void>
}

export interface Acknowledged {
  /** That the relay answered with. */
  readonly hash: string
  /** Of the relay call. */
  readonly nonce: bigint
}

export interface CallersOptions {
  readonly world: Parameters<typeof signedCall>[0]
  readonly workers: number
  /** First channel; the workers take the ones after it. */
  readonly firstChannel: bigint
  /** The relay to ask now; it may change from call to call. */
  readonly url: (worker: number, id: number, acknowledged: number) => string
  /** Told of each answer, and how long it took. */
  readonly onAnswer?: (url: string, ms: number) => void
  /** Calls of each worker; absent: until `finish`. */
  readonly callsEach?: number
}

const RETRY_MS = 20
/** A server that is killed again and again may live for a second in twenty. */
const GIVE_UP_MS = 180_000

export function startCallers(options: CallersOptions): Callers {
  const { world, workers, firstChannel, url, callsEach = Infinity, onAnswer = () => {} } = options
  const acknowledged: Acknowledged[] = []
  const refusals: Record<string, number> = {}
  let unanswered = 0
  let isFinishing = false
  /** One has given up: so do the others. */
  let isFailing = false

  async function send(worker: number, id: number): Promise<void> {
    const { body, nonce } = signedCall(world, firstChannel + BigInt(worker), BigInt(id))
    const end = performance.now() + GIVE_UP_MS
    while (performance.now() < end && !isFailing) {
      // A connection of its own each time: those to a process that was killed are of no use.
      const relayUrl = url(worker, id, acknowledged.length)
      const poster = createPoster(relayUrl, 1)
      const begunMs = performance.now()
      try {
        const { status, json } = await poster.post('/execute', body)
        onAnswer(relayUrl, performance.now() - begunMs)
        if (status === 200) {
          acknowledged.push({ hash: String(json['transactionHash']), nonce })
          return
        }
        const code = String(json['code'])
        refusals[code] = (refusals[code] ?? 0) + 1
      } catch {
        unanswered++
      } finally {
        await poster.close().catch(() => {})
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
    isFailing = true
    throw new Error(`a call is not answered in ${GIVE_UP_MS / 1000} s: ${JSON.stringify({ ...refusals, unanswered })}`)
  }

  const running = Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let id = 0; id < callsEach && !isFinishing; id++) await send(worker, id)
    }),
  )
  // `finish` tells.
  running.catch(() => {})
  return {
    acknowledged,
    refusals,
    get unanswered() {
      return unanswered
    },
    finish: async () => {
      if (callsEach === Infinity) isFinishing = true
      await running
    },
  }
}
