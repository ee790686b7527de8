import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import ts from 'typescript'

describe('ClauseId', () => {
  it('compiles for a row of the documents and for nothing else', function () {
    this.timeout(30_000)
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
