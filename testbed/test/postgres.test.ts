import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { OperatorError } from '../../server/core/errors.ts'
import { startPostgres } from '../postgres.ts'

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

  it('says why the server does not start', async () => {
    const postgres = await startPostgres()
    try {
      const error = await postgres.start().catch((error: unknown) => error)
      expect(error).to.be.instanceOf(OperatorError)
      expect(error)
        .to.have.property('message')
        .that.matches(/^PostgreSQL does not start: .*"postmaster.pid" already exists/)
    } finally {
      await postgres.kill()
      await postgres.close()
    }
  })
})
