import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { OperatorError } from '../../server/core/errors.ts'
import { startPostgres } from '../postgres.ts'

describe('startPostgres', () => {
  /** A process that starts and closes a server. */
  function startAndClose(environment: NodeJS.ProcessEnv = {}) {
    const script = `
      import { startPostgres } from '${import.meta.resolve('../postgres.ts')}'
      const postgres = await startPostgres()
      await postgres.close()
      process.exitCode = 3`
    const env = { ...process.env, ...environment }
    return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', env })
  }

  it('leaves the exit code of the process alone', () => {
    expect(startAndClose()).to.include({ status: 3, stderr: '' })
  })

  it('starts where the environment names a locale that this machine lacks', () => {
    const { status, stderr } = startAndClose({ LC_ALL: 'xx_XX.UTF-8' })
    expect(status, stderr).to.equal(3)
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
