import { expect } from 'chai'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly optionalDependencies?: Readonly<Record<string, string>> }>>
}

describe('package-lock.json', () => {
  // npm leaves them out when the registry does not have them at the time; npm ci then refuses the file.
  it('names every optional package of every platform', async () => {
    const text = await readFile(join(import.meta.dirname, '../../package-lock.json'), 'utf8')
    const { packages } = JSON.parse(text) as LockFile
    const locked = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)))
    const optional = Object.values(packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}))
    expect(optional.filter((name) => !locked.has(name))).to.deep.equal([])
  })
})
