import { expect } from 'chai'
import { createLog } from '../../telemetry/create-log.ts'

describe('createLog', () => {
  let written: string
  let write: (bytes: Uint8Array) => number
  const lines = () => written.split('\n').filter((line) => line.startsWith('{'))
  const messages = () => lines().map((line) => (JSON.parse(line) as { msg: string }).msg)
  const take = (bytes: Uint8Array) => ((written += Buffer.from(bytes).toString()), bytes.length)

  beforeEach(() => {
    written = ''
    write = take
  })
  const log = () => createLog('info', (bytes) => write(bytes))
  const failing = (code: string) => () => {
    throw Object.assign(new Error(code), { code })
  }

  it('writes lines of its level', () => {
    const own = log()
    own.debug('not this')
    own.info('this')
    expect(messages()).to.deep.equal(['this'])
  })

  it('loses what a full disk does not take, and says how many lines were lost', () => {
    const own = log()
    write = failing('ENOSPC')
    own.info('one')
    own.info('two')
    write = take
    own.info('three')
    own.info('four')
    expect(messages()).to.deep.equal(['log lines could not be written', 'three', 'four'])
    expect(JSON.parse(lines()[0] ?? '')).to.include({ lost: 2 })
  })

  it('still knows how many lines were lost when the line that says so is lost too', () => {
    const own = log()
    write = failing('ENOSPC')
    own.info('one')
    own.info('two')
    // Room for the end of the line before, and for nothing more.
    write = (bytes) => (bytes.length === 1 ? take(bytes) : failing('ENOSPC')())
    own.info('three')
    write = take
    own.info('four')
    expect(messages()).to.deep.equal(['log lines could not be written', 'four'])
    expect(JSON.parse(lines()[0] ?? '')).to.include({ lost: 3 })
  })

  it('loses what an output takes nothing of', () => {
    const own = log()
    write = () => 0
    own.info('one')
    write = take
    own.info('two')
    expect(messages()).to.deep.equal(['log lines could not be written', 'two'])
  })

  it('begins a new line after one that was written in part', () => {
    const own = log()
    let room = 10
    write = (bytes) => {
      if (room === 0) failing('ENOSPC')()
      const part = bytes.subarray(0, room)
      room -= part.length
      return take(part)
    }
    own.info('cut')
    write = take
    own.info('whole')
    expect(written.split('\n')[0]).to.have.length(10)
    expect(
      written
        .split('\n')
        .slice(1, -1)
        .map((line) => (JSON.parse(line) as { msg: string }).msg),
    ).to.deep.equal(['log lines could not be written', 'whole'])
  })

  it('waits for a slow reader of a pipe, and not for ever', () => {
    const own = log()
    let turns = 0
    write = (bytes) => (++turns < 3 ? failing('EAGAIN')() : take(bytes))
    own.info('read late')
    expect(messages()).to.deep.equal(['read late'])
    write = failing('EAGAIN')
    own.info('never read')
    expect(messages()).to.deep.equal(['read late'])
  })
})
