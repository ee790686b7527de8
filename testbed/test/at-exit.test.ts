import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Runs a program that may use what it imports here. @returns its exit code, and the lines that it has printed */
function run(body: string) {
  const script = `
    import { existsSync, writeFileSync } from 'node:fs'
    import { atExit, exitOnSignals, temporaryFolder } from '${import.meta.resolve('../at-exit.ts')}'
    ${body}`
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  return { status, lines: stdout.trim().split('\n') }
}

describe('atExit', () => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    it(`cleans up at ${signal} where that ends the process, and nobody else ends it`, () => {
      const program = (others: string) => `
        atExit(() => console.log('clean'))
        exitOnSignals()
        ${others}
        process.kill(process.pid, '${signal}')
        setTimeout(() => console.log('runs on'), 100)`
      expect(run(program(''))).to.deep.equal({ status: code, lines: ['clean'] })
      const ended = run(program(`process.on('${signal}', () => setImmediate(() => process.exit(4)))`))
      expect(ended).to.deep.equal({ status: 4, lines: ['clean'] })
    })
  }

  it('cleans up in reverse order when the process exits, and only what is left', () => {
    const { status, lines } = run(`
      atExit(() => console.log('first'))
      atExit(() => console.log('done before'))()
      atExit(() => console.log('last'))
      process.exit(3)`)
    expect(status).to.equal(3)
    expect(lines).to.deep.equal(['last', 'first'])
  })

  it('leaves no process and no file behind an exception', async () => {
    const { status, lines } = run(`
      const [kept, removed] = [temporaryFolder('test'), temporaryFolder('test')]
      writeFileSync(kept.path + '/file', '')
      removed.remove()
      const { startScript } = await import('${import.meta.resolve('../processes.ts')}')
      const { url } = await startScript('scripts/bench/support/floor', ['eth-rpc'])
      const { ok } = await fetch(url, { method: 'POST', body: '{"id":1}' })
      console.log([kept.path, existsSync(kept.path), existsSync(removed.path), url, ok].join('\\n'))
      throw new Error('a test has failed')`)
    expect(status).to.equal(1)
    const [path = '', ...seen] = lines
    const [, , url = ''] = seen
    expect(seen).to.deep.equal(['true', 'false', url, 'true'])
    expect(existsSync(path)).to.equal(false)
    expect(await fetch(url).catch((error: Error) => error)).to.be.instanceOf(Error)
  })
})
