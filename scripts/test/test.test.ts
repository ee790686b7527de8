import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

describe('the command test', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'touchstone-test-'))
  })

  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function testFile(source: string, ...args: string[]) {
    const file = join(folder, 'some.test.mjs')
    await writeFile(file, source)
    const script = join(import.meta.dirname, '..', 'touchstone.ts')
    const { status, stdout } = spawnSync(process.execPath, [script, 'test', file, ...args], { encoding: 'utf8' })
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

  it('runs only the tests whose titles match', async () => {
    expect(await testFile(`it('a', () => {}); it('b', () => { throw new Error('no') })`, '--grep', 'a')).to.deep.equal({
      status: 0,
      lastLine: '1 passed, 0 failed',
    })
  })
})
