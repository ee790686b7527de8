import { expect } from 'chai'
import fs from 'node:fs'
import { chmod, chown, cp, lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabaseFolder } from '../../../services/database/database-folder.ts'
import { openDatabase, type DatabaseOptions } from '../../../services/database/database.ts'
import { OperatorError } from '../../../core/errors.ts'

const isRoot = process.getuid?.() === 0
const NOBODY = 65_534

describe('the folder of the embedded database', () => {
  let base: string
  /** A database as a first start leaves it. */
  let whole: string
  let count = 0

  const options = (folder: string): DatabaseOptions => ({ url: null, folder, schema: 'touchstone_1', poolSize: 1 })
  const fresh = () => join(base, `folder ${count++}`)

  before(async () => {
    base = await mkdtemp(join(tmpdir(), 'touchstone-folder-'))
    // The other user of a test has to get to what is in it.
    await chmod(base, 0o711)
    whole = fresh()
    const database = await openDatabase(options(whole))
    await database.db.insertInto('facts').values({ name: 'kept', value: 'yes' }).execute()
    await database.close()
  })
  after(() => rm(base, { recursive: true, force: true }))

  async function copyOfWhole(): Promise<string> {
    const folder = fresh()
    await cp(whole, folder, { recursive: true })
    await chmod(folder, 0o700)
    return folder
  }

  /** The one line that it is refused with; nothing in the folder has changed. */
  async function refusal(folder: string, openIt: () => Promise<unknown> = () => openDatabaseFolder(folder)) {
    const before = await contentOf(folder)
    const error = await openIt().then(
      () => expect.fail('it was taken'),
      (thrown: unknown) => thrown,
    )
    expect(error).to.be.instanceOf(OperatorError)
    const { message } = error as OperatorError
    expect(message).to.include(folder).and.not.include('\n')
    expect(await contentOf(folder), 'untouched').to.deep.equal(before)
    return message
  }

  const contentOf = async (folder: string) =>
    (await readdir(folder, { recursive: true }).catch(() => [])).filter((name) => name !== 'lock.sqlite').sort()

  async function modesIn(folder: string): Promise<Set<string>> {
    const files = [folder, ...(await filesOf(folder))]
    return new Set(await Promise.all(files.map(async (file) => ((await lstat(file)).mode & 0o777).toString(8))))
  }

  it('is open to nobody else, with everything in it, whatever the umask', async () => {
    expect(await modesIn(whole)).to.deep.equal(new Set(['700', '600']))
    const umask = process.umask(0)
    const folder = join(fresh(), 'deep')
    try {
      ;(await openDatabaseFolder(folder)).release()
    } finally {
      process.umask(umask)
    }
    expect(await modesIn(folder)).to.deep.equal(new Set(['700', '600']))
  })

  for (const mode of [0o755, 0o750, 0o770, 0o702, 0o710]) {
    it(`is refused with mode ${mode.toString(8)}, naming the command that mends it`, async () => {
      const folder = await copyOfWhole()
      await chmod(folder, mode)
      const message = await refusal(folder)
      expect(message).to.include(`chmod -R go= '${folder}'`).and.include(mode.toString(8))
      await chmod(folder, 0o700)
      ;(await openDatabaseFolder(folder)).release()
    })
  }

  it('is refused when it belongs to another user (as root, who can give it away)', async function () {
    if (!isRoot) return this.skip()
    const folder = await copyOfWhole()
    await chown(folder, NOBODY, NOBODY)
    expect(await refusal(folder))
      .to.include('belongs to another user')
      .and.include('chown')
  })

  it('is refused when it holds something else, and left as it is', async () => {
    const folder = fresh()
    await mkdir(folder, { mode: 0o700 })
    await writeFile(join(folder, 'letters.txt'), 'dear')
    expect(await refusal(folder)).to.include("not empty ('letters.txt')")
    expect(await readdir(folder)).to.deep.equal(['letters.txt'])
    // Whoever follows the advice must not close a folder of the system to all others.
    await chmod(folder, 0o755)
    expect(await refusal(folder))
      .to.include('name another folder')
      .and.not.include('chmod')

    const postgres = fresh()
    await cp(join(whole, 'pgdata'), postgres, { recursive: true })
    await chmod(postgres, 0o700)
    expect(await refusal(postgres)).to.include('holds no database of this server')
    expect(await readdir(postgres)).to.not.include('lock.sqlite')
  })

  for (const part of ['PG_VERSION', 'global/pg_control', 'base', 'pg_wal', 'postgresql.conf']) {
    it(`is refused without ${part}: no new ledger is begun in place of a damaged one`, async () => {
      const folder = await copyOfWhole()
      await rm(join(folder, 'pgdata', part), { recursive: true })
      expect(await refusal(folder, () => openDatabase(options(folder)))).to.include(`pgdata/${part} is missing`)
    })
  }

  it('is refused when it was made by another PostgreSQL', async () => {
    const folder = await copyOfWhole()
    await writeFile(join(folder, 'pgdata', 'PG_VERSION'), '17\n')
    expect(await refusal(folder))
      .to.include("PostgreSQL '17'")
      .and.include('18')
  })

  for (const [what, file] of [
    ['a garbled control file', 'global/pg_control'],
    ['a garbled configuration', 'postgresql.conf'],
  ] as const) {
    it(`is refused with ${what}, and can be opened once that is mended`, async () => {
      const folder = await copyOfWhole()
      await writeFile(join(folder, 'pgdata', file), Buffer.alloc(8192, 'x'))
      const error = await openDatabase(options(folder)).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(OperatorError)
      expect((error as Error).message)
        .to.include(folder)
        .and.include('damaged')
        .and.not.include('\n')
      await cp(join(whole, 'pgdata', file), join(folder, 'pgdata', file))
      const database = await openDatabase(options(folder))
      expect(await database.db.selectFrom('facts').where('name', '=', 'kept').select('value').execute()).to.have.length(
        1,
      )
      await database.close()
    })
  }

  it('is refused when it is a file, or lies under one, or its lock cannot be', async () => {
    const file = fresh()
    await writeFile(file, '')
    expect(await refusal(file)).to.include('it is a file')
    expect(await refusal(join(file, 'database'))).to.include('a part of its path is a file')
    const dangling = fresh()
    await symlink(join(base, 'nowhere', 'at all'), dangling)
    expect(await refusal(dangling)).to.include('cannot be')
    const unlockable = await copyOfWhole()
    await rm(join(unlockable, 'lock.sqlite'))
    await mkdir(join(unlockable, 'lock.sqlite'))
    expect(await refusal(unlockable)).to.include('cannot be locked')
  })

  it('is refused when nothing can be written, and then says so to who asks', async () => {
    const folder = fresh()
    await mkdir(folder, { mode: 0o700 })
    if (isRoot) await chown(folder, NOBODY, NOBODY)
    const opened = await asNobody(() => openDatabaseFolder(folder))
    await chmod(folder, 0o500)
    try {
      const late = await asNobody(() => opened.assertWritable().catch((error: unknown) => error))
      expect((late as Error).message).to.include('cannot be written: the server has no right to it')
      opened.release()
      const message = await refusal(folder, () => asNobody(() => openDatabaseFolder(folder)))
      expect(message).to.include('cannot be written: the server has no right to it')
    } finally {
      await chmod(folder, 0o700)
    }
  })

  it('begins anew after a first start that was interrupted, and never after one that was not', async () => {
    const folder = fresh()
    const first = await openDatabaseFolder(folder)
    await mkdir(join(folder, 'pgdata'))
    await writeFile(join(folder, 'pgdata', 'PG_VERSION'), '18\n')
    first.release()
    const database = await openDatabase(options(folder))
    expect(await readdir(folder)).to.have.members(['lock.sqlite', 'pgdata'])
    await database.close()
    const again = await openDatabaseFolder(folder)
    expect(await readdir(join(folder, 'pgdata'))).to.include('base')
    again.release()
  })

  it('is on the disk, with all that a first start has made, before the mark of an unfinished one goes', async () => {
    const folder = fresh()
    const data = join(folder, 'pgdata')
    /** What is waited for, and whether the mark is there. */
    const synced: [path: string, isMarked: boolean][] = []
    const see = (file: unknown) => synced.push([String(file), fs.existsSync(join(folder, 'unfinished'))])
    const { openSync, fsyncSync } = fs
    const { open } = fs.promises
    const paths = new Map<number, unknown>()
    Object.assign(fs, {
      openSync: (...args: Parameters<typeof openSync>) => {
        const descriptor = openSync(...args)
        paths.set(descriptor, args[0])
        return descriptor
      },
      fsyncSync: (descriptor: number) => {
        fsyncSync(descriptor)
        see(paths.get(descriptor))
      },
    })
    fs.promises.open = async (file, ...rest) => {
      const handle = await open(file, ...rest)
      const sync = handle.sync.bind(handle)
      handle.sync = async () => {
        await sync()
        see(file)
      }
      return handle
    }
    syncBuiltinESMExports()
    try {
      const opened = await openDatabaseFolder(folder)
      await mkdir(join(data, 'base'), { recursive: true })
      await writeFile(join(data, 'base', '1'), 'a table')
      await opened.finish()
      opened.release()
    } finally {
      fs.promises.open = open
      Object.assign(fs, { openSync, fsyncSync })
      syncBuiltinESMExports()
    }
    expect(synced.slice(1)).to.deep.equal([
      [folder, true],
      [data, true],
      [join(data, 'base'), true],
      [join(data, 'base', '1'), true],
      [folder, false],
    ])
  })
})

const filesOf = async (folder: string) => (await readdir(folder, { recursive: true })).map((name) => join(folder, name))

/** Root may write anywhere: it takes another user for as long as the work lasts. */
async function asNobody<Result>(work: () => Promise<Result>): Promise<Result> {
  if (!isRoot) return work()
  const { getuid } = process
  process.seteuid?.(NOBODY)
  process.getuid = () => NOBODY
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
    if (getuid) process.getuid = getuid
  }
}
