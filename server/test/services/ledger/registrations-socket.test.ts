import { expect } from 'chai'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { openDatabase, type Database } from '../../../services/database/database.ts'
import { createRegistrations, type Registrations } from '../../../services/ledger/accounts.ts'
import { runningRegistrations, serveRegistrations } from '../../../services/ledger/registrations-socket.ts'
import { systemClock } from '../../../services/clock.ts'
import { createPlans } from '../../../services/quotas/plans.ts'
import { ownRegistry } from '../../support/own-registry.ts'
import { skip } from '../../../../testbed/test/support/skip.ts'

const PROFILE = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const CHAIN_ID = 42n
/** More than a JSON number holds. */
const AMOUNT = 2n ** 200n

describe('registrations by a socket', () => {
  let database: Database
  let registrations: Registrations
  let folder: string
  let warnings: string[]
  let close: () => Promise<void>
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) })

  before(async () => {
    database = await openDatabase({ url: null, folder: null, schema: 'touchstone_42', poolSize: 1 })
    const { quotas } = await ownRegistry()
    const plans = createPlans(
      { defaultPlan: 'paid', plans: { paid: { model: 'pay-as-you-go-gas', options: {} } } },
      quotas,
      {},
    )
    registrations = createRegistrations({ db: database.db, plans, clock: systemClock })
  })
  beforeEach(async () => {
    warnings = []
    folder = await mkdtemp(join(tmpdir(), 'touchstone-test-'))
    close = await serveRegistrations({ folder, chainId: CHAIN_ID, registrations, log })
  })
  afterEach(async () => {
    await close()
    await rm(folder, { recursive: true, force: true })
  })
  after(() => database.close())

  /** Of the process that has the database. */
  async function running(chainId = CHAIN_ID): Promise<Registrations> {
    const found = await runningRegistrations(folder, chainId)
    if (!found) throw new Error('nobody listens')
    return found
  }

  /** Sends bytes as they are. @returns what comes back */
  function sent(bytes: string): Promise<string> {
    const socket = connect(join(folder, 'profiles.sock'))
    socket.end(bytes)
    return text(socket)
  }

  it('answer as those of the database do, in numbers of any size', async () => {
    const remote = await running()
    expect(await remote.add(PROFILE, undefined)).to.deep.equal(await registrations.show(PROFILE))
    expect((await remote.topUp(PROFILE, AMOUNT)).allowance).to.equal(AMOUNT)
    expect((await remote.suspend(PROFILE)).suspended).to.equal(true)
    expect((await remote.resume(PROFILE)).suspended).to.equal(false)
    expect((await remote.remove(PROFILE)).registered).to.equal(false)
    expect((await remote.move(PROFILE, 'paid')).plan).to.equal('paid')
    expect(await remote.list()).to.deep.equal(await registrations.list())
    expect(await remote.show(PROFILE)).to.deep.equal(await registrations.show(PROFILE))
    expect(warnings).to.deep.equal([])
  })

  it('refuse in the same words', async () => {
    const remote = await running()
    for (const refused of [
      (of: Registrations) => of.add(PROFILE, 'free'),
      (of: Registrations) => of.add('0x1'),
      (of: Registrations) => of.show('0x00000000000000000000000000000000000000aa'),
    ]) {
      const [wanted, found] = await Promise.all(
        [registrations, remote].map((of) => refused(of).catch((error: Error) => `${error.name}: ${error.message}`)),
      )
      expect(found).to.equal(wanted)
    }
  })

  it('are for one chain', async () => {
    const other = await running(1n)
    expect(await other.list().catch((error: Error) => error.message)).to.equal('the server that runs is for chain 42')
  })

  it('tell no more of a failure than where to look, and log it', async () => {
    await close()
    const failing = { ...registrations, list: () => Promise.reject(new Error('secret')) }
    close = await serveRegistrations({ folder, chainId: CHAIN_ID, registrations: failing, log })
    const told = await (await running()).list().catch((error: Error) => error.message)
    expect(told).to.equal('the server that runs cannot do it now: its log says why')
    expect(warnings.join()).to.include('secret')
  })

  it('tell that it may be done when no answer comes', async () => {
    await close()
    const silent = createServer((socket) => void socket.once('data', () => socket.destroy()))
    await once(silent.listen(join(folder, 'profiles.sock')), 'listening')
    const told = await (await running()).topUp(PROFILE, 1n).catch((error: Error) => error.message)
    expect(told).to.include('may have done it')
    silent.close()
  })

  it('carry out nothing but registrations, and outlive what is no order', async () => {
    for (const method of ['constructor', '__proto__', 'toString', 'close', '']) {
      const order = { chainId: { bigint: '42' }, method, values: [] }
      expect(await sent(JSON.stringify(order)), method).to.include('of another version')
    }
    for (const bytes of ['', 'null', '{', '[]', '{"chainId":{"bigint":"x"}}', 'x'.repeat(100_000)]) {
      expect(await sent(bytes).catch(() => ''), bytes.slice(0, 30)).to.not.include('done')
    }
    expect(await (await running()).list()).to.be.an('array')
  })

  it('are not there when nobody listens, also where a killed process has left its socket', async () => {
    await close()
    expect(await runningRegistrations(folder, CHAIN_ID)).to.equal(undefined)
    await writeFile(join(folder, 'profiles.sock'), '')
    expect(await runningRegistrations(folder, CHAIN_ID)).to.equal(undefined)
    close = await serveRegistrations({ folder, chainId: CHAIN_ID, registrations, log })
    expect(await (await running()).list()).to.be.an('array')
    expect(warnings).to.deep.equal([])
  })

  it('are for the user of the server alone', async function () {
    if (process.getuid === undefined) return skip(this, 'this system has no rights of files')
    const { mode } = await stat(join(folder, 'profiles.sock'))
    expect(mode & 0o777).to.equal(0o600)
  })

  it('are told in the log where no socket can be made, and the server goes on', async () => {
    const deep = join(folder, 'a'.repeat(120))
    const taken = join(folder, 'taken')
    await mkdir(deep)
    await mkdir(join(taken, 'profiles.sock'), { recursive: true })
    for (const where of [deep, taken]) {
      warnings = []
      const closeNothing = await serveRegistrations({ folder: where, chainId: CHAIN_ID, registrations, log })
      expect(warnings.join()).to.include('profiles can be registered only while this process does not run')
      expect(await runningRegistrations(where, CHAIN_ID)).to.equal(undefined)
      await closeNothing()
    }
  })
})
