import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { loadArtifact } from '../artifacts.ts'

const root = join(import.meta.dirname, '../..')

describe('compiling the contracts', () => {
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'touchstone-#%41-'))
    const packages = join(folder, 'node_modules')
    await mkdir(packages)
    for (const name of await readdir(join(root, 'node_modules'))) {
      if (name !== 'solc') await symlink(join(root, 'node_modules', name), join(packages, name))
    }
    await cp(join(root, 'node_modules/solc'), join(packages, 'solc'), { recursive: true })
    await cp(join(root, 'contracts'), join(folder, 'contracts'), { recursive: true })
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('works in a folder whose name is none for Hardhat', async () => {
    const compiler = pathToFileURL(join(folder, 'contracts/compile.ts')).href
    const script = `import('${compiler}').then(({ compileInto }) => compileInto('output', ['Bundler'], ''))`
    await promisify(execFile)(process.execPath, ['--eval', script], { cwd: folder })
    const compiled = JSON.parse(await readFile(join(folder, 'output/Bundler.json'), 'utf8')) as object
    const { deployedBytecode } = await loadArtifact('Bundler')
    expect(compiled).to.include({ deployedBytecode })
  })
})
