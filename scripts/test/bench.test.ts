import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { createLoadNonces } from '../bench/execute/loads.ts'
import { choicesIn, numberOf } from '../parse-command.ts'
import { UsageError } from '../../conformance/lib/outcome.ts'

describe('createLoadNonces', () => {
  it('gives each call of a load a channel of its own', () => {
    const nonces = createLoadNonces().take({ workers: 3, tasks: 12 })
    expect(nonces.map(({ length }) => length)).to.deep.equal([4, 4, 4])
    expect(new Set(nonces.flat().map(({ channel }) => channel)).size).to.equal(12)
    expect(nonces.flat().every(({ id }) => id === 0n)).to.equal(true)
  })

  it('goes on in the same channels in the next load, whoever takes them', () => {
    const loads = createLoadNonces()
    const first = loads.take({ workers: 2, tasks: 6 }).flat()
    const second = loads.take({ workers: 3, tasks: 6 }).flat()
    const fewer = loads.take({ workers: 1, tasks: 2 }).flat()
    expect(second).to.deep.equal(first.map(({ channel }) => ({ channel, id: 1n })))
    expect(fewer).to.deep.equal(first.slice(0, 2).map(({ channel }) => ({ channel, id: 2n })))
  })
})

describe('numberOf', () => {
  it('takes whole numbers, and names the option that holds none', () => {
    expect(numberOf({ rounds: '11' }, 'rounds')).to.equal(11)
    for (const text of ['x', '', '-5', '1.5', '1e3', 'NaN']) {
      expect(() => numberOf({ rounds: text }, 'rounds'), text).to.throw(
        UsageError,
        `--rounds takes a whole number, not '${text}'`,
      )
    }
  })
})

const bench = new URL('../bench/execute.ts', import.meta.url).href

describe('reserveCore', () => {
  it('keeps what is started from then on away from one core, until it is released', () => {
    // In a process of its own: the tests keep their cores.
    const script = `
      import { execFileSync } from 'node:child_process'
      import { reserveCore } from '${bench}'
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

describe('choicesIn', () => {
  it('takes what is named, and refuses what is no choice', () => {
    expect(choicesIn('--node', 'anvil,hardhat', ['hardhat', 'anvil'])).to.deep.equal(['anvil', 'hardhat'])
    for (const wrong of ['geth', 'anvil,geth', '']) {
      expect(() => choicesIn('--node', wrong, ['hardhat', 'anvil'])).to.throw(UsageError, '--node')
    }
  })
})
