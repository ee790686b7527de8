import { once } from 'node:events'
import { chmod, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Logger } from 'pino'
import { OperatorError } from '../../core/errors.ts'
import { PROFILES_SOCKET } from '../database/database-folder.ts'
import type { Registrations } from './accounts.ts'

/** How long either side waits for the other, in milliseconds. */
const PATIENCE_MS = 5_000

/** What one connection brings, as JSON. Whole numbers of any size are `{ "bigint": "123" }`. */
interface Order {
  readonly chainId: bigint
  readonly method: keyof Registrations
  readonly values: readonly unknown[]
}

/** What the connection takes back. */
type Outcome = { readonly done: unknown } | { readonly refused: string }

interface RegistrationsSocketOptions {
  readonly folder: string
  readonly chainId: bigint
  readonly registrations: Registrations
  readonly log: Logger
}

/**
 * Lets another process register profiles while this one has the embedded database, by a socket in its folder. Where a
 * file system takes no sockets, the log says so.
 *
 * @returns closes it, when what has been asked is answered
 */
export async function serveRegistrations(options: RegistrationsSocketOptions): Promise<() => Promise<void>> {
  const { folder, log } = options
  const path = pathIn(folder)
  const server = createServer({ allowHalfOpen: true }, (socket) => void answer(socket, options))
  try {
    // A process that was killed has left it.
    await rm(path, { force: true })
    await once(server.listen(path), 'listening')
    await chmod(path, 0o600)
  } catch (err) {
    log.warn({ err }, 'profiles can be registered only while this process does not run')
    server.close()
    return async () => {}
  }
  // Without a listener the event would end the process: a connection that cannot be taken, for want of descriptors.
  server.on('error', (err) => log.warn({ err }, 'who registers profiles cannot be heard'))
  return () => new Promise((resolve) => server.close(() => resolve()))
}

async function answer(socket: Socket, options: RegistrationsSocketOptions): Promise<void> {
  const { log } = options
  socket.setTimeout(PATIENCE_MS, () => socket.destroy())
  socket.on('error', (err) => log.warn({ err }, 'who registers profiles is gone'))
  try {
    // The socket must outlive the reading, to take the answer.
    const order = await text(socket.iterator({ destroyOnReturn: false }))
    // Who only looks whether somebody listens sends nothing.
    if (order === '') return void socket.destroy()
    socket.end(format(await carryOut(parse(order) as Order, options)))
  } catch (err) {
    log.warn({ err }, 'what is asked about profiles cannot be read')
    socket.destroy()
  }
}

async function carryOut(
  { chainId, method, values }: Order,
  { registrations, log, ...own }: RegistrationsSocketOptions,
): Promise<Outcome> {
  if (chainId !== own.chainId) return { refused: `the server that runs is for chain ${own.chainId}` }
  if (!Object.hasOwn(registrations, method)) return { refused: 'the server that runs is of another version' }
  try {
    const carried = registrations[method] as (...values: readonly unknown[]) => Promise<unknown>
    return { done: await carried(...values) }
  } catch (err) {
    if (err instanceof OperatorError) return { refused: err.message }
    log.warn({ err }, 'a profile cannot be registered')
    return { refused: 'the server that runs cannot do it now: its log says why' }
  }
}

/**
 * The registrations of the process that has the embedded database.
 *
 * @returns undefined when no process has it, or none listens; each method throws OperatorError
 */
export async function runningRegistrations(folder: string, chainId: bigint): Promise<Registrations | undefined> {
  const path = pathIn(folder)
  if (!(await isListening(path))) return undefined
  const ask =
    <Method extends keyof Registrations>(method: Method) =>
    (...values: Parameters<Registrations[Method]>) =>
      // JSON makes null of what is left out.
      send(path, { chainId, method, values: values.filter((value) => value !== undefined) }) as ReturnType<
        Registrations[Method]
      >
  return {
    list: ask('list'),
    show: ask('show'),
    add: ask('add'),
    remove: ask('remove'),
    suspend: ask('suspend'),
    resume: ask('resume'),
    topUp: ask('topUp'),
    move: ask('move'),
  }
}

/** @throws OperatorError */
async function send(path: string, order: Order): Promise<unknown> {
  const socket = connect(path)
  socket.setTimeout(PATIENCE_MS, () => socket.destroy())
  socket.end(format(order))
  let outcome: Outcome
  try {
    outcome = parse(await text(socket)) as Outcome
  } catch (cause) {
    // A top-up that is asked for again would be made twice.
    throw new OperatorError('the server that runs does not answer, and may have done it: look at the profile first', {
      cause,
    })
  }
  if ('refused' in outcome) throw new OperatorError(outcome.refused)
  return outcome.done
}

function isListening(path: string): Promise<boolean> {
  const socket = connect(path)
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  }).finally(() => socket.destroy())
}

/** Systems take about 100 bytes, and a path from here may be shorter. */
function pathIn(folder: string): string {
  const path = join(folder, PROFILES_SOCKET)
  const fromHere = relative(process.cwd(), path)
  return fromHere.length < path.length ? fromHere : path
}

const format = (value: unknown): string =>
  JSON.stringify(value, (_name, inner: unknown) => (typeof inner === 'bigint' ? { bigint: String(inner) } : inner))

const parse = (json: string): unknown =>
  JSON.parse(json, (_name, inner: unknown) =>
    typeof inner === 'object' && inner !== null && 'bigint' in inner ? BigInt(String(inner.bigint)) : inner,
  )
