import { EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPoster, signedCall } from '../relay-world.ts'

/** Clients that send one call after the other. Each uses a channel of its own, and repeats a call until it is accepted. */
export interface Callers {
  /** The calls that the relay has accepted. */
  readonly acknowledged: readonly Acknowledged[]
  /** The number of refusals, by code. */
  readonly refusals: Readonly<Record<string, number>>
  /** The number of attempts without an answer. */
  readonly unanswered: number
  /**
   * Waits until the relay has accepted `count` more calls.
   *
   * @throws Error when a call is not accepted within three minutes, or when no worker is left
   */
  more(count: number): Promise<void>
  /** Begins no new calls, and waits for those under way. @throws Error when a call is not accepted within three minutes */
  finish(): Promise<void>
}

export interface Acknowledged {
  /** The hash in the relay's answer. */
  readonly hash: string
  /** The nonce of the relay call. */
  readonly nonce: bigint
}

export interface CallersOptions {
  readonly world: Parameters<typeof signedCall>[0]
  readonly workers: number
  /** The channel of the first worker. The other workers use the channels after it. */
  readonly firstChannel: bigint
  /** The URL of the relay for an attempt. It may change from attempt to attempt. */
  readonly url: (worker: number, id: number, acknowledged: number) => string
  /** Called for each answer, with its time in milliseconds. */
  readonly onAnswer?: (url: string, ms: number) => void
  /** The number of calls of each worker; absent: each sends calls until `finish`. */
  readonly callsEach?: number
  /** The pause of a worker between two calls; absent: 0. */
  readonly pauseMs?: number
}

const RETRY_MS = 100
/** A long time, because a server that is killed again and again may live for one second in twenty. */
const GIVE_UP_MS = 180_000

export function startCallers(options: CallersOptions): Callers {
  const { world, workers, firstChannel, url, callsEach = Infinity, pauseMs = 0, onAnswer = () => {} } = options
  const acknowledged: Acknowledged[] = []
  const events = new EventEmitter<{ accepted: [] }>()
  const refusals: Record<string, number> = {}
  let unanswered = 0
  let isFinishing = false
  /** One worker has given up, so the others give up too. */
  let isFailing = false

  async function send(worker: number, id: number): Promise<void> {
    const { body, nonce } = signedCall(world, firstChannel + BigInt(worker), BigInt(id))
    const end = performance.now() + GIVE_UP_MS
    while (performance.now() < end && !isFailing) {
      // Each attempt opens a connection, because connections to a killed process are dead.
      const relayUrl = url(worker, id, acknowledged.length)
      const poster = createPoster(relayUrl, 1)
      const begunMs = performance.now()
      try {
        const { status, json } = await poster.post('/execute', body)
        onAnswer(relayUrl, performance.now() - begunMs)
        if (status === 200) {
          acknowledged.push({ hash: String(json['transactionHash']), nonce })
          events.emit('accepted')
          return
        }
        const code = String(json['code'])
        refusals[code] = (refusals[code] ?? 0) + 1
      } catch {
        unanswered++
      } finally {
        await poster.close().catch(() => {})
      }
      await sleep(RETRY_MS)
    }
    isFailing = true
    throw new Error(`a call is not answered in ${GIVE_UP_MS / 1000} s: ${JSON.stringify({ ...refusals, unanswered })}`)
  }

  const running = Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let id = 0; id < callsEach && !isFinishing; id++) {
        if (id > 0 && pauseMs > 0) await sleep(pauseMs)
        await send(worker, id)
      }
    }),
  )
  // `finish` reports the failure.
  running.catch(() => {})
  return {
    acknowledged,
    refusals,
    get unanswered() {
      return unanswered
    },
    more: async (count) => {
      const over = running.then(() => Promise.reject(new Error('the callers have sent all their calls')))
      over.catch(() => {})
      const goal = acknowledged.length + count
      while (acknowledged.length < goal) await Promise.race([once(events, 'accepted'), over])
    },
    finish: async () => {
      if (callsEach === Infinity) isFinishing = true
      await running
    },
  }
}
