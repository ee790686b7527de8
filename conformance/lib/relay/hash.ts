import { type Answer, isSuccess, objectOf } from '../answer.ts'

/** What some languages write where there is no hash: an empty string or zeros. */
const noHash = /^(0x)?0*$/i

/** The value of `transactionHash`, with any status; undefined when it is absent, empty or zero. */
export function hashIn(answer: Answer): unknown {
  const hash = objectOf(answer)?.['transactionHash']
  if (typeof hash === 'string' && noHash.test(hash)) return undefined
  return hash === null || hash === false ? undefined : hash
}

/** Whether `transactionHash` holds 32 bytes in any type and spelling. */
export function tellsHash(answer: Answer): boolean {
  const text = JSON.stringify(hashIn(answer)) ?? ''
  return isSuccess(answer) && /[0-9a-f]{64}/i.test(text)
}

/** Whether the value is the hash of a transaction: 32 bytes in hex, with or without 0x. */
export function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^(0x)?[0-9a-f]{64}$/i.test(value)
}

/** A hash as nodes write it. */
export function normalHash(hash: string): string {
  return `0x${hash.toLowerCase().replace(/^0x/, '')}`
}

/** Whether the target accepted the call: a 2xx status and a hash. */
export function isAccepted(answer: Answer): boolean {
  return isSuccess(answer) && isHash(hashIn(answer))
}
