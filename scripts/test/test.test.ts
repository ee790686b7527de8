import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

describe('the command test', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'touchstone-test-'))
  })

  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function testFile(source: string, args: readonly string[] = [], environment: NodeJS.ProcessEnv = {}) {
    const file = join(folder, 'some.test.mjs')
    await writeFile(file, source)
    const script = join(import.meta.dirname, '..', 'touchstone.ts')
    const env = { ...process.env, ...environment }
    const { status, stdout } = spawnSync(process.execPath, [script, 'test', file, ...args], { encoding: 'utf8', env })
    return { status, lastLine: stdout.trimEnd().split('\n').at(-1) }
  }

  it('runs only the file that is named, and counts', async () => {
    expect(await testFile(`it('a', () => {}); it('b', () => {})`)).to.deep.equal({
      status: 0,
      lastLine: '2 passed, 0 failed',
    })
  })

  it('fails when a test fails', async () => {
    expect(await testFile(`it('a', () => {}); it('b', () => { throw new Error('no') })`)).to.deep.equal({
      status: 1,
      lastLine: '1 passed, 1 failed',
    })
  })

  it('fails when a file cannot be loaded', async () => {
    expect(await testFile(`import './missing.mjs'`)).to.deep.equal({ status: 1, lastLine: '0 passed, 1 failed' })
  })

  it('fails when it is interrupted', async () => {
    const source = `it('a', () => { process.kill(process.pid, 'SIGINT') }); it('b', () => {})`
    expect(await testFile(source)).to.deep.equal({ status: 1, lastLine: '0 passed, 1 failed' })
  })

  for (const [when, ending] of [
    ['they have ended', ''],
    ['it is terminated', `process.kill(process.ppid, 'SIGTERM'); return new Promise(() => {})`],
  ] as const) {
    it(`removes what the tests wrote into the folder for temporary files when ${when}`, async () => {
      const where = join(folder, 'where')
      const write = `import { mkdtempSync, writeFileSync } from 'node:fs'; import { tmpdir } from 'node:os'
        it('a', () => { writeFileSync('${where}', mkdtempSync(tmpdir() + '/some-')); ${ending} })`
      expect(await testFile(write)).to.deep.include({ status: ending === '' ? 0 : 1 })
      const written = await readFile(where, 'utf8')
      expect(written).to.match(/\/touchstone-test-\w+\/some-\w+$/)
      expect(existsSync(join(written, '..'))).to.equal(false)
    })
  }

  it('lets programs print the same on every machine', async () => {
    const source = `import { execSync } from 'node:child_process'
      const print = (program) => execSync(program + ' 2>&1', { encoding: 'utf8' })
      it('a', () => { if (print('node -p 1') !== '1\\n') throw new Error() })
      it('b', () => { if (print('locale -a').includes('Cannot')) throw new Error() })`
    const environment = { FORCE_COLOR: '1', LC_ALL: 'xx_XX.UTF-8' }
    expect(await testFile(source, [], environment)).to.include({ lastLine: '2 passed, 0 failed' })
  })

  it('lets other users read what the tests write', async () => {
    const before = process.umask(0o077)
    try {
      const source = `it('a', () => { if (process.umask() !== 0o022) throw new Error() })`
      expect(await testFile(source)).to.include({ lastLine: '1 passed, 0 failed' })
    } finally {
      process.umask(before)
    }
  })

  it('runs only the tests whose titles match', async () => {
    expect(
      await testFile(`it('a', () => {}); it('b', () => { throw new Error('no') })`, ['--grep', 'a']),
    ).to.deep.equal({
      status: 0,
      lastLine: '1 passed, 0 failed',
    })
  })
})
