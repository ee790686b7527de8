import { expect } from 'chai'
import { AccountSender } from '../../../services/relayer/account-sender.ts'
import type { Broadcaster } from '../../../services/relayer/broadcast.ts'
import { unobserved } from '../../../services/relayer/observer.ts'

const transaction = (nonce: number) => ({ hash: `0xhash${nonce}`, raw: `0x0${nonce}` })

/** Nodes that take what they are offered, until one is told to take no more. */
class Nodes implements Broadcaster {
  readonly offered: string[][] = []
  takes = Infinity
  /** Nothing is taken before this. */
  answer = Promise.resolve()

  async send(transactions: Parameters<Broadcaster['send']>[0], onTaken?: (index: number) => void) {
    this.offered.push(transactions.map(({ hash }) => hash))
    await this.answer
    const taken = Math.min(this.takes, transactions.length)
    for (let index = 0; index < taken; index++) onTaken?.(index)
    return { taken, isRefused: taken < transactions.length }
  }
}

describe('AccountSender', () => {
  it('sends together what is handed over together, and then what came meanwhile, in order', async () => {
    const nodes = new Nodes()
    const { promise, resolve } = Promise.withResolvers<void>()
    nodes.answer = promise
    const sender = new AccountSender({ broadcaster: nodes, observer: unobserved })
    const first = Promise.all([sender.send([transaction(0), transaction(1)]), sender.send([transaction(2)])])
    await new Promise((turn) => setImmediate(turn))
    const second = sender.send([transaction(3)])
    resolve()
    await Promise.all([first, second])
    await sender.sending
    expect(nodes.offered).to.deep.equal([['0xhash0', '0xhash1', '0xhash2'], ['0xhash3']])
    expect(sender.isStopped).to.equal(false)
    expect(sender.sending).to.equal(undefined)
  })

  it('leaves to the follower what comes behind a transaction that no node takes', async () => {
    const nodes = new Nodes()
    nodes.takes = 1
    const sender = new AccountSender({ broadcaster: nodes, observer: unobserved })
    await Promise.all([sender.send([transaction(0), transaction(1)]), sender.send([transaction(2)])])
    await sender.send([transaction(3)])
    expect(sender.isStopped).to.equal(true)
    expect(nodes.offered).to.deep.equal([['0xhash0', '0xhash1', '0xhash2']])
  })

  it('sends once what several hand over together, and answers all of them', async () => {
    const nodes = new Nodes()
    nodes.takes = 2
    const sender = new AccountSender({ broadcaster: nodes, observer: unobserved })
    const shared = transaction(1)
    await Promise.all([
      sender.send([transaction(0), shared]),
      sender.send([{ ...shared }]),
      sender.send([{ ...shared }]),
    ])
    expect(nodes.offered).to.deep.equal([['0xhash0', '0xhash1']])
    expect(sender.isStopped).to.equal(false)
  })

  it('sends nothing when a transaction before the first one is missing', async () => {
    const nodes = new Nodes()
    const sender = new AccountSender({ broadcaster: nodes, observer: unobserved })
    sender.stop()
    await sender.send([transaction(1)])
    expect(nodes.offered).to.deep.equal([])
  })

  it('answers at once when there is nothing to send', async () => {
    const sender = new AccountSender({ broadcaster: new Nodes(), observer: unobserved })
    await sender.send([])
    expect(sender.sending).to.equal(undefined)
  })
})
