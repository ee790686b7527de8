import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { walkLogs, type WalkedLog } from '../walk-logs.ts'
import { seedLogs } from '../../contracts/deploy/seeds.ts'
import { createSender } from '../../contracts/deploy/sender.ts'
import { nodeKinds, type TestNode } from './support/nodes.ts'
import { startRpcFront, type RpcFront } from './support/rpc-server.ts'

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

const root = fileURLToPath(new URL('../../', import.meta.url))
const page = await readFile(join(root, 'docs/eth-rpc.md'), 'utf8')
const programs = [...page.matchAll(/^```js (\S+)\n([^]*?)^```$/gm)].map(([, name = '', code = '']) => ({ name, code }))

describe('docs/eth-rpc.md', () => {
  let node: TestNode
  let front: RpcFront
  let folder: string
  let count: number

  before(async () => {
    node = await nodeKinds.hardhat()
    // And one of another contract between them.
    count = (await seedLogs(await createSender(node.deployer))).count + 1
    front = await startRpcFront([node.rpcUrl])
    // Inside of the repository, so that the packages are found.
    folder = await mkdtemp(join(root, 'node_modules/.docs-'))
  })
  after(async () => {
    await rm(folder, { recursive: true, force: true })
    await front.close()
    await node.close()
  })

  it('shows the walk with ethers, with viem and by hand', () => {
    expect(programs.map(({ name }) => name)).to.deep.equal(['ethers.mjs', 'viem.mjs', 'by-hand.mjs'])
  })

  for (const { name, code } of programs) {
    it(`${name} walks over every log`, async () => {
      const file = join(folder, name)
      const helper = pathToFileURL(join(root, 'server/walk-logs.ts')).href
      await writeFile(
        file,
        code.replace('http://127.0.0.1:3000/api/eth-rpc', front.url).replace("'touchstone/walk-logs'", `'${helper}'`),
      )
      const { stdout } = await promisify(execFile)(process.execPath, [file])
      expect(stdout).to.equal(`${count} logs\n`)
    })
  }
})
