import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

describe('the command mutants', () => {
  it('is the first half of prove', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mutants-'))
    try {
      const out = join(folder, 'matrix.json')
      const script = join(import.meta.dirname, '../touchstone.ts')
      const args = [script, 'mutants', '--only', 'relay.quota.unit--case', '--out', out]
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
      expect(status, `${stdout}${stderr}`).to.equal(0)
      const { mutants, lawful } = JSON.parse(await readFile(out, 'utf8')) as { mutants: object[]; lawful: object[] }
      expect([mutants.length, lawful.length]).to.deep.equal([1, 0])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
