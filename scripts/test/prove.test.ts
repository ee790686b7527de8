import { expect } from 'chai'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, watch } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LawfulResult, MutantResult } from '../prove/judge.ts'

interface Matrix {
  readonly faults: string[]
  readonly mutants: MutantResult[]
  readonly lawful: LawfulResult[]
}

/** All of them take minutes: the command `prove` is run for that, and here a sample of each kind. */
describe('the command prove', () => {
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'prove-'))
  })
  after(() => rm(folder, { recursive: true }))

  async function prove(...args: string[]): Promise<{ status: number | null; text: string; written: Matrix }> {
    const out = join(folder, 'matrix.json')
    const argv = [join(import.meta.dirname, '../touchstone.ts'), 'prove', ...args, '--out', out]
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' })
    const written = JSON.parse(await readFile(out, 'utf8').catch(() => '{}')) as Matrix
    return { status, text: stdout + stderr, written }
  }

  it('finds each mutant caught, the unbroken server and the control not', async () => {
    const { status, text, written } = await prove('--only', 'relay.quota.unit--absent', '--no-lawful')
    expect(status, text).to.equal(0)
    expect(written.faults).to.deep.equal([])
    expect(written.mutants.map(({ name, caught }) => [name, caught])).to.deep.equal([
      ['relay.quota.unit--absent', true],
    ])
    expect(text).to.match(/1 of 1 mutants caught by their clause, in [\d.]+ s/)
  })

  it('spares a lawful server', async () => {
    const id = 'listens-by-https-and-ipv6-below-a-prefix'
    const { status, text, written } = await prove('--only', id)
    expect(status, text).to.equal(0)
    expect(written.lawful.map(({ name, accusations }) => [name, accusations])).to.deep.equal([[id, []]])
    expect(text).to.match(/1 of 1 lawful servers spared, in [\d.]+ s/)
  })

  it('removes its files when it is interrupted', async () => {
    const temporary = join(folder, 'temporary')
    await mkdir(temporary)
    const argv = ['prove', '--only', 'relay.quota.unit--absent', '--no-lawful', '--out', join(folder, 'never.json')]
    const child = spawn(process.execPath, [join(import.meta.dirname, '../touchstone.ts'), ...argv], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: 'ignore',
    })
    // By then a testbed and a process of the suite are there.
    for await (const { filename } of watch(temporary, { recursive: true })) if (filename?.includes('runner-')) break
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).to.deep.equal([143, null])
    expect(await readdir(temporary)).to.deep.equal([])
  })

  it('knows no other names', async () => {
    for (const only of ['relay.quota.unot', 'relay.quota.unit,relay.quota.unot']) {
      const { status, text } = await prove('--only', only)
      expect(status).to.equal(2)
      expect(text).to.equal('nothing is named relay.quota.unot\n')
    }
  })
})
