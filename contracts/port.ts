import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Makes sure that a port is free before anything is started for it.
 *
 * @param port 0 means any free port, and passes
 * @throws Error with the code EADDRINUSE (or EACCES, EADDRNOTAVAIL)
 */
export async function assertPortIsFree(port: number, host: string): Promise<void> {
  if (port === 0) return
  const probe = createServer().listen(port, host)
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
}
