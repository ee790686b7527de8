import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

const cores = new URL('../../../bench/support/cores.ts', import.meta.url).href

describe('reserveCore', () => {
  it('keeps what is started from then on away from one core, until it is released', () => {
    // In a process of its own: the tests keep their cores.
    const script = `
      import { execFileSync } from 'node:child_process'
      import { reserveCore } from '${cores}'
      const usable = () => Number(execFileSync(process.execPath, ['-p', 'os.availableParallelism()'], { encoding: 'utf8' }))
      const reserved = reserveCore()
      const meanwhile = usable()
      const onIt = reserved && execFileSync('taskset', ['-c', String(reserved.number), 'echo', 'there'], { encoding: 'utf8' })
      reserved?.release()
      console.log(JSON.stringify({ onIt, meanwhile, after: usable() }))`
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    const all = availableParallelism()
    const isPossible = process.platform === 'linux' && all > 1
    expect(JSON.parse(printed)).to.deep.equal({
      ...(isPossible && { onIt: 'there\n' }),
      meanwhile: isPossible ? all - 1 : all,
      after: all,
    })
  })
})
