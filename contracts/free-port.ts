import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Tells a port that is taken before anything is started for it.
 *
 * @param port 0: any that is free, so there is always one
 * @throws Error with the code EADDRINUSE (or EACCES, EADDRNOTAVAIL)
 */
export async function assertPortIsFree(port: number, host: string): Promise<void> {
  if (port === 0) return
  const probe = createServer().listen(port, host)
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
}
