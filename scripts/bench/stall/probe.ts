import { createServer } from 'node:http'

/**
 * A server loads this module by `node --import`. It answers at `127.0.0.1:$STALL_PORT` with the longest turn of the event loop
 * since the last request, in milliseconds of CPU time of the main thread, so that other processes do not count.
 */
const now = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

let longestMs = 0
let beganMs = now()

const turn = () => {
  const endMs = now()
  longestMs = Math.max(longestMs, endMs - beganMs)
  beganMs = endMs
  setImmediate(turn).unref()
}
turn()

const { STALL_PORT } = process.env
if (STALL_PORT !== undefined) {
  createServer((_request, response) => {
    response.end(JSON.stringify(longestMs))
    // The turn of this answer does not count for the next one.
    setImmediate(() => setImmediate(() => (longestMs = 0)))
  })
    .listen(Number(STALL_PORT), '127.0.0.1')
    .unref()
}
