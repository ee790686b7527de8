import { expect } from 'chai'
import { readdir } from 'node:fs/promises'
import { clauses, type ClauseId } from '../../../specs/index.ts'
import { loadLawful, loadMutants } from '../../altered/load.ts'

/** The clauses about relays that have a verdict. */
const judged = (Object.keys(clauses) as ClauseId[]).filter(
  (id) =>
    clauses[id].document !== 'client' && clauses[id].level !== 'unspecified' && clauses[id].untested === undefined,
)

const isUnique = (names: readonly string[]) => expect(new Set(names).size).to.equal(names.length)

/** `<kind>/<id>` of every suite. */
async function suitePaths(): Promise<string[]> {
  const files = await readdir(new URL('../../suites/', import.meta.url), { recursive: true })
  return files
    .filter((file) => /\.conformance\.(ts|js)$/.test(file))
    .map((file) => file.replace(/\.conformance\..*/, ''))
}

describe('the mutants', () => {
  it('break every clause that has a verdict', async () => {
    const broken = new Set((await loadMutants()).map(({ mutant }) => mutant.clause))
    expect(judged.filter((id) => !broken.has(id))).to.deep.equal([])
  })

  it('have names of their own, and say what is broken', async () => {
    const mutants = await loadMutants()
    isUnique(mutants.map(({ name }) => name))
    for (const { name, mutant } of mutants) {
      expect(mutant.fault, name).to.match(/^\S.{8,}[^.]$/)
      expect(mutant.every ?? mutant.execute ?? mutant.quota ?? mutant.rpc, name).to.be.a('function')
      expect(mutant.name ?? 'a', name).to.match(/^[a-z0-9]+(-[a-z0-9]+)*$/)
    }
  })

  it('break it in different words', async () => {
    isUnique((await loadMutants()).map(({ mutant }) => `${mutant.clause}: ${mutant.fault}`))
  })

  it('lie at the path of a suite', async () => {
    expect(await suitePaths()).to.include.members([...new Set((await loadMutants()).map(({ path }) => path))])
  })
})

describe('the lawful servers', () => {
  it('tempt every clause that has a verdict', async () => {
    const tempted = new Set((await loadLawful()).flatMap(({ lawful }) => lawful.clauses))
    expect(judged.filter((id) => !tempted.has(id))).to.deep.equal([])
  })

  it('are at least 120, with ids of their own', async () => {
    const lawful = await loadLawful()
    expect(lawful).to.have.length.of.at.least(120)
    isUnique(lawful.map(({ name }) => name))
  })

  it('say by which sentence or silence they are allowed, and differ', async () => {
    for (const { name, lawful } of await loadLawful()) {
      const { allowedBy, every, execute, quota, rpc, environment } = lawful
      expect(name, name).to.match(/^[a-z0-9]+(-[a-z0-9]+)*$/)
      expect(allowedBy, name).to.match(/^\S.{20,}[^.]$/)
      expect(every ?? execute ?? quota ?? rpc ?? environment, name).to.exist
    }
  })

  it('may fail recommended clauses only, and leave open required ones only', async () => {
    for (const { name, lawful } of await loadLawful()) {
      for (const id of lawful.mayFail ?? []) expect(clauses[id].level, `${name}: ${id}`).to.equal('recommended')
      for (const id of lawful.untestable ?? []) expect(clauses[id].level, `${name}: ${id}`).to.equal('required')
    }
  })

  it('lie at the path of a suite', async () => {
    expect(await suitePaths()).to.include.members([...new Set((await loadLawful()).map(({ path }) => path))])
  })
})
