import { expect } from 'chai'
import { spawnSync } from 'node:child_process'

describe('startPostgres', () => {
  it('leaves the exit code of the process alone', () => {
    const script = `
      import { startPostgres } from '${import.meta.resolve('../postgres.ts')}'
      const postgres = await startPostgres()
      await postgres.close()
      process.exitCode = 3`
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    expect(stderr).to.equal('')
    expect(status).to.equal(3)
  })
})
