import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { microBatch } from '../../concurrency/micro-batch.ts'
import { addressOf, MalformedSignatureError, type Signature } from '../../ethereum/signature.ts'

/** A question to the thread. */
export interface RecoveryQuestion {
  /** 32 bytes. */
  readonly digest: Uint8Array
  readonly signature: Signature
}

/** Recovers signers in a thread of its own: that takes longer than all other work of such a request. */
export interface Recovery {
  /**
   * @param digest 32 bytes
   * @returns the checksummed address
   * @throws MalformedSignatureError when no key can have made it
   */
  signer(digest: Uint8Array, signature: Signature): Promise<string>
  close(): Promise<void>
}

declare module '../../core/define.ts' {
  interface Services {
    recovery: Recovery
  }
}

const MAX_TOGETHER = 128

export function createRecovery(): Recovery {
  /** Started with the first question, and again after it has died. */
  let worker: Worker | undefined

  function start(): Worker {
    // TypeScript in the repository, JavaScript in the package.
    const started = new Worker(new URL(`recovery-worker${extname(import.meta.filename)}`, import.meta.url))
    started.unref()
    started.on('error', () => {
      if (worker === started) worker = undefined
    })
    return started
  }

  const publicKey = microBatch(
    async (questions: readonly RecoveryQuestion[]) => {
      worker ??= start()
      worker.postMessage(questions)
      const [publicKeys] = (await once(worker, 'message')) as [(Uint8Array | null)[]]
      return publicKeys.map((key) => key ?? new MalformedSignatureError('no key can have made this signature'))
    },
    { maxItems: MAX_TOGETHER },
  )

  return {
    signer: async (digest, signature) => addressOf(await publicKey({ digest, signature })),
    close: async () => {
      const last = worker
      worker = undefined
      await last?.terminate()
    },
  }
}
