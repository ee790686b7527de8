import { expect } from 'chai'
import { walkLogs, type WalkedLog } from '../walk-logs.ts'

/** Logs of one block with consecutive indexes. */
const logs = (length: number, from = 0) =>
  Array.from({ length }, (_, index) => ({
    blockNumber: '0x1',
    logIndex: `0x${(from + index).toString(16)}`,
  })) as WalkedLog[]

async function collect(walk: AsyncIterable<WalkedLog>): Promise<WalkedLog[]> {
  const collected: WalkedLog[] = []
  for await (const log of walk) collected.push(log)
  return collected
}

describe('walkLogs', () => {
  const paged = (total: number) => {
    const asked: object[] = []
    const request = async ({ params: [filter] }: { params: [object] }) => {
      asked.push(filter)
      const { paging_options: after } = filter as { paging_options?: { logIndex: string } }
      const from = after ? Number(after.logIndex) + 1 : 0
      return logs(Math.min(1000, total - from), from)
    }
    return { asked, request }
  }

  for (const [total, pages] of [
    [0, 1],
    [999, 1],
    [1000, 2],
    [2500, 3],
  ] as const) {
    it(`asks for ${pages} page(s) of ${total} logs`, async () => {
      const { asked, request } = paged(total)
      const walked = await collect(walkLogs(request, { fromBlock: '0x0' }))
      expect(walked).to.deep.equal(logs(total))
      expect(asked).to.have.length(pages)
      expect(asked.every((filter) => (filter as { fromBlock: string }).fromBlock === '0x0')).to.equal(true)
    })
  }

  it('asks for the next page only when the last one is used up', async () => {
    const { asked, request } = paged(2500)
    const walk = walkLogs(request, {})
    for (let index = 0; index < 1000; index++) await walk.next()
    expect(asked).to.have.length(1)
    await walk.next()
    expect(asked).to.have.length(2)
    await walk.return()
    expect(asked).to.have.length(2)
  })

  it('does not go round in circles where paging is ignored', async () => {
    const walk = collect(walkLogs(async () => logs(1000), {}))
    const error = await walk.catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(Error)
  })
})
