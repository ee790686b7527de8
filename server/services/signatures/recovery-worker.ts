// The thread of recovery.ts. It answers each batch with the recovered public keys; null: no key can have made the
// signature.
import { parentPort } from 'node:worker_threads'
import secp256k1 from 'secp256k1'
import type { RecoveryQuestion } from './recovery.ts'

function recover({ digest, signature: { bytes, recoveryId } }: RecoveryQuestion): Uint8Array | null {
  try {
    return secp256k1.ecdsaRecover(bytes, recoveryId, digest, false)
  } catch {
    return null
  }
}

parentPort?.on('message', (questions: readonly RecoveryQuestion[]) => {
  parentPort?.postMessage(questions.map(recover))
})
