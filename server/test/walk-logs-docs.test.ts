import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { seedLogs } from '../../contracts/deploy/seeds.ts'
import { createSender } from '../../contracts/deploy/sender.ts'
import { nodeKinds, type TestNode } from './support/nodes.ts'
import { startRpcFront, type RpcFront } from './support/rpc-front.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const page = await readFile(join(root, 'docs/eth-rpc.md'), 'utf8')
const programs = [...page.matchAll(/^```js (\S+)\n([^]*?)^```$/gm)].map(([, name = '', code = '']) => ({ name, code }))

describe('docs/eth-rpc.md', function () {
  this.timeout(60_000)
  let node: TestNode
  let front: RpcFront
  let folder: string
  let count: number

  before(async () => {
    node = await nodeKinds.hardhat()
    // And one of another contract between them.
    count = (await seedLogs(await createSender(node.wallet))).count + 1
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
