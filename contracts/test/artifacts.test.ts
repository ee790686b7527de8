import { expect } from 'chai'
import { Interface } from 'ethers'
import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { cp, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as artifacts from '../artifacts.ts'
import { artifactsFolder, compileContracts, contractNames, loadArtifact, type Artifact } from '../artifacts.ts'
import { logEmitterInterface, logPairInterface } from '../deploy/seeds.ts'
import { targetInterface } from '../deploy/targets.ts'

describe('artifacts', () => {
  it('compiles to what the loader finds, and leaves nothing else behind', async () => {
    const { sourceHash } = await loadArtifact('LogEmitter')
    const compiled = await compileContracts(sourceHash)
    for (const name of contractNames) {
      const found = JSON.parse(await readFile(join(artifactsFolder, `${name}.json`), 'utf8')) as Artifact
      expect(found).to.deep.equal(compiled[name])
      expect(await loadArtifact(name)).to.deep.equal(compiled[name])
    }
    const left = (await readdir(artifactsFolder)).filter(
      (file) => !contractNames.some((name) => file === `${name}.json`),
    )
    expect(left).to.deep.equal([])
  })

  it('compiles all contracts at once when several are loaded', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'touchstone-contracts-'))
    const started: ChildProcess[] = []
    const onStart = (message: unknown) => started.push((message as { process: ChildProcess }).process)
    subscribe('child_process', onStart)
    try {
      const sources = dirname(artifactsFolder)
      const isSource = (path: string) => path === sources || /\.(sol|ts)$/.test(path)
      await cp(sources, join(folder, 'contracts'), { recursive: true, filter: isSource })
      await cp(join(sources, '../package.json'), join(folder, 'package.json'))
      await symlink(join(sources, '../node_modules'), join(folder, 'node_modules'))
      const copy = (await import(pathToFileURL(join(folder, 'contracts/artifacts.ts')).href)) as typeof artifacts
      const loaded = await Promise.all(contractNames.map(copy.loadArtifact))
      expect(loaded).to.deep.equal(await Promise.all(contractNames.map(loadArtifact)))
      expect(started.filter(({ spawnargs }) => spawnargs.join().includes('soljson'))).to.have.length(1)
    } finally {
      unsubscribe('child_process', onStart)
      await rm(folder, { recursive: true })
    }
  })

  for (const [name, written] of [
    ['LogEmitter', logEmitterInterface],
    ['LogPair', logPairInterface],
    ['Target', targetInterface],
  ] as const) {
    it(`${name}: the interface that the code uses is the contract's`, async () => {
      const compiled = new Interface((await loadArtifact(name)).abi)
      for (const fragment of written.fragments) {
        expect(compiled.format(), fragment.format('full')).to.include(fragment.format('full'))
      }
    })
  }
})
