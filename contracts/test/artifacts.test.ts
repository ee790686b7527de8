import { expect } from 'chai'
import { Interface } from 'ethers'
import { artifactsFolder, compileContracts, contractNames, loadArtifact, type Artifact } from '../artifacts.ts'
import { logEmitterInterface, logPairInterface } from '../deploy/seeds.ts'
import { targetInterface } from '../deploy/targets.ts'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

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
