import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { clauses, schemas, type Clause } from '../index.ts'

const rows: [string, Clause][] = Object.entries(clauses)
const documents = ['eth-rpc', 'relay'] as const
/** `client` holds what both documents say of their callers. */
const catalogues = [...documents, 'client'] as const
/** The methods that the document lists: something is required of them. The server may have more. */
const methods = new Set(
  rows.flatMap(([id, { level }]) => (level === 'required' ? (/^eth-rpc\.(eth_\w+)\./.exec(id)?.[1] ?? []) : [])),
)

describe('clauses', () => {
  for (const document of documents) {
    it(`pass over no numbered rule of the document ${document}, and require something of a service`, () => {
      const own = rows.filter(([, row]) => row.document === document)
      expect(own.filter(([, { level }]) => level === 'required')).to.not.be.empty
      const rules = new Set(own.flatMap(([, { section }]) => section.split(', ')))
      for (const rule of rules) {
        const [section, number] = rule.split('.')
        if (number === undefined || number === '1') continue
        expect(rules, `the rule before ${rule}`).to.include(`${section}.${Number(number) - 1}`)
      }
    })
  }

  it('require of a client what a rule of a document says', () => {
    const own = rows.filter(([, row]) => row.document === 'client')
    expect(own.filter(([, { level }]) => level === 'required')).to.not.be.empty
    for (const [id, { section }] of own) {
      const [, document, rules = ''] = /^(\S+) (.*)$/.exec(section) ?? []
      const known = rows.flatMap(([, row]) => (row.document === document ? row.section.split(', ') : []))
      for (const rule of rules.split(', ')) expect(known, id).to.include(rule)
    }
  })

  it('have ids that no file repeats', () => {
    // JSON.parse keeps the last of two rows with one id and says nothing.
    for (const document of catalogues) {
      const text = readFileSync(new URL(`../clauses/${document}.json`, import.meta.url), 'utf8')
      const written = [...text.matchAll(/^ {2}"([^"]+)": \{/gm)].map(([, id]) => id)
      const loaded = rows.filter(([, row]) => row.document === document).map(([id]) => id)
      expect(written).to.deep.equal(loaded)
    }
  })

  for (const [id, row] of rows) {
    it(`${id} is well-formed`, () => {
      expect(id.startsWith(`${row.document}.`), 'the id names the document').to.be.true
      expect(id).to.match(/^[a-z-]+(?:\.[A-Za-z0-9_-]+)+$/)
      expect(row.level).to.be.oneOf(['required', 'recommended', 'unspecified'])
      expect(row.section).to.match(row.document === 'client' ? /^(?:relay|eth-rpc) [1-9]/ : /^[1-9]/)
      expect(row.section.replace(/^[a-z-]+ /, '')).to.match(/^[1-9](?:\.\d)?(?:, [1-9](?:\.\d)?)*$/)
      expect(row.text.includes('?'), 'asks if and only if unspecified').to.equal(row.level === 'unspecified')
      expect(row.text).to.match(/^\S.*[.?)]$/)
      for (const need of [...row.needs, ...(row.needsForValue ?? [])]) {
        expect(need).to.be.oneOf(['chain', 'fixture', 'spend', 'clock', 'fuzz'])
      }
      expect(row).to.have.all.keys(
        ['document', 'level', 'section', 'text', 'needs'].concat(
          ['needsForValue', 'editions', 'untested'].filter((optional) => optional in row),
        ),
      )
    })
  }

  it('cover success, result and bad parameters of every method, and each has its schema', () => {
    expect(methods).to.not.be.empty
    for (const method of methods) {
      expect(schemas).to.have.property(`rpc-method/${method}`)
      for (const part of ['success', 'result-schema', 'bad-params']) {
        expect(clauses).to.have.property(`eth-rpc.${method}.${part}`)
      }
    }
  })

  it('differ by edition in the window of the quota', () => {
    expect(clauses['relay.quota.window'].text).to.include('5 seconds')
    expect(clauses['relay.quota.window'].editions?.lip).to.include('300 seconds')
  })
})

describe('ClauseId', () => {
  it('compiles for a row of the documents and for nothing else', () => {
    const { rightId, wrongId, wrongCode } = compile({
      rightId: `import { clauses, type ClauseId } from '../index.ts'
        export const id: ClauseId = 'relay.quota.window'
        export const text: string = clauses[id].text`,
      wrongId: `import type { ClauseId } from '../index.ts'
        export const id: ClauseId = 'relay.quota.no-such-clause'`,
      wrongCode: `import type { ErrorCode } from '../index.ts'
        export const code: ErrorCode = 'NONCE_SPENT'`,
    })
    expect(rightId).to.deep.equal([])
    const notAssignable = 2322
    expect(wrongId).to.deep.equal([notAssignable])
    expect(wrongCode).to.deep.equal([notAssignable])
  })
})

/** Compiles texts as if they were files of this folder; the codes of their errors, by name. */
function compile<Name extends string>(texts: Record<Name, string>): Record<Name, number[]> {
  const names = Object.keys(texts) as Name[]
  const pathOf = (name: Name) => fileURLToPath(new URL(`${name}.virtual.ts`, import.meta.url))
  const textOf = new Map(names.map((name) => [pathOf(name), texts[name]]))
  const options = compilerOptions()
  const disk = ts.createCompilerHost(options)
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (path) => textOf.has(path) || disk.fileExists(path),
    readFile: (path) => textOf.get(path) ?? disk.readFile(path),
    getSourceFile: (path, target, onError) => {
      const text = textOf.get(path)
      return text === undefined ? disk.getSourceFile(path, target, onError) : ts.createSourceFile(path, text, target)
    },
  }
  const program = ts.createProgram([...textOf.keys()], options, host)
  const codesOf = (name: Name) =>
    ts.getPreEmitDiagnostics(program, program.getSourceFile(pathOf(name))).map(({ code }) => code)
  return Object.fromEntries(names.map((name) => [name, codesOf(name)])) as Record<Name, number[]>
}

/** Those of this folder's project, without its references: the sources of specs/ are read as they stand. */
function compilerOptions(): ts.CompilerOptions {
  const folder = fileURLToPath(new URL('./', import.meta.url))
  const { config } = ts.readConfigFile(`${folder}tsconfig.json`, (path) => ts.sys.readFile(path)) as { config: unknown }
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, folder)
  const rootDir = fileURLToPath(new URL('..', import.meta.url))
  return { ...options, composite: false, incremental: false, noEmit: true, rootDir, types: ['node'] }
}
