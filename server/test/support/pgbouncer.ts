import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { unusedPort } from '../../../testbed/processes.ts'
import { skip } from '../../../testbed/test/support/skip.ts'

const folders = ['/usr/sbin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']
const executable = folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path))

export interface PgBouncer {
  /** URL of the database behind it. */
  readonly url: string
  close(): Promise<void>
}

/**
 * Starts PgBouncer in front of a database of a PostgreSQL server.
 *
 * @param settings of its section `pgbouncer`
 * @param hook skipped on a machine without PgBouncer, which still runs the other tests; CI installs it, and must not pass
 *   without it
 * @throws Error in CI: it is not installed; it does not start
 */
export async function startPgBouncer(
  databaseUrl: string,
  settings: Readonly<Record<string, string>>,
  hook: Mocha.Context,
): Promise<PgBouncer> {
  if (executable === undefined) skip(hook, 'PgBouncer is not installed')
  const { hostname, port: serverPort, username, password, pathname } = new URL(databaseUrl)
  const port = await unusedPort()
  const folder = await mkdtemp(join(tmpdir(), 'touchstone-pgbouncer-'))
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'any',
    // It does not run as root, which containers often are.
    ...(userInfo().uid === 0 && { user: 'postgres' }),
    ...settings,
  }
  const file = join(folder, 'pgbouncer.ini')
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${serverPort} user=${username} password=${password}`,
    '[pgbouncer]',
    ...Object.entries(all).map(([name, value]) => `${name} = ${value}`),
  ]
  await writeFile(file, lines.join('\n'))
  const child = spawn(executable, [file], { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'exit')
  const close = async () => {
    child.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  const said: string[] = []
  for await (const line of createInterface(child.stderr)) {
    if (!line.includes('process up')) {
      said.push(line)
      continue
    }
    child.stderr.resume()
    return { url: `postgres://anyone@127.0.0.1:${port}${pathname}`, close }
  }
  await close()
  throw new Error(`PgBouncer does not start: ${said.join('\n')}`)
}
