import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

const connectTimeoutMs = 2000
const pauseMs = 100
/** A process that ends closes its connections before its port: looked at this often. */
const looks = 3

/** Whether a TCP connection to the host and port of the URL is taken. */
function listens(url: URL): Promise<boolean> {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ''), port, timeout: connectTimeoutMs })
  return new Promise((resolve) => {
    const end = (found: boolean) => {
      socket.destroy()
      resolve(found)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })
}

/** Whether nobody listens at the URL any more, a moment after it closed a connection without an answer. */
export async function hasDied(url: string): Promise<boolean> {
  for (let look = 0; look < looks; look++) {
    if (await listens(new URL(url))) return false
    await delay(pauseMs)
  }
  return true
}

/** Waits until somebody listens at the URL again. @returns false when nobody does within `timeoutMs` */
export async function isBack(url: string, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (!(await listens(new URL(url)))) {
    if (performance.now() >= deadline) return false
    await delay(pauseMs)
  }
  return true
}
