import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The contracts of this folder. */
export const contractNames = ['Bundler', 'Hostile', 'Impostor', 'LogEmitter', 'LogPair', 'Target'] as const

type ContractName = (typeof contractNames)[number]

/** A compiled contract, as `contracts/artifacts/<name>.json` holds it. */
export interface Artifact {
  readonly abi: readonly object[]
  /** Creation code, hex. */
  readonly bytecode: string
  /** The code that the chain keeps, hex. */
  readonly deployedBytecode: string
  /** SHA-256 of the sources and settings from which the contract was compiled. */
  readonly sourceHash: string
}

export const artifactsFolder = join(import.meta.dirname, 'artifacts')

/** The compilation that is under way: who loads another contract meanwhile waits for the same one. */
let compiling: ReturnType<typeof compileContracts> | undefined

/**
 * Loads a contract of this folder. If its source or the compiler's settings have changed, all contracts are compiled first.
 * The published package has no sources, so there the artifact is taken as it is.
 *
 * @throws Error the artifact is missing, and there is no source
 */
export async function loadArtifact(name: ContractName): Promise<Artifact> {
  const [artifact, sourceHash] = await Promise.all([readArtifact(name), hashSources()])
  if (artifact && (sourceHash === undefined || artifact.sourceHash === sourceHash)) return artifact
  if (sourceHash === undefined) throw new Error(`the contract ${name} is missing from ${artifactsFolder}`)
  compiling ??= compileContracts(sourceHash).finally(() => (compiling = undefined))
  return (await compiling)[name]
}

/** SHA-256 of all files that decide an artifact. Undefined where the sources are absent. */
async function hashSources(): Promise<string | undefined> {
  const files = [...contractNames.map((name) => `${name}.sol`), 'hardhat.ts', 'compile.ts']
  const texts = await Promise.all(files.map((file) => readOptional(join(import.meta.dirname, file))))
  if (texts.includes(undefined)) return undefined
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex')
}

async function readArtifact(name: ContractName): Promise<Artifact | undefined> {
  const text = await readOptional(join(artifactsFolder, `${name}.json`))
  return text === undefined ? undefined : (JSON.parse(text) as Artifact)
}

async function readOptional(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Compiles the contracts of this folder, and writes them to `contracts/artifacts`.
 *
 * @param sourceHash goes into each artifact, so that a change of the sources is noticed
 */
export async function compileContracts(sourceHash: string): Promise<Record<ContractName, Artifact>> {
  // Loaded when contracts are compiled, because the published package has no compiler.
  const { compileInto } = await import('./compile.ts')
  return compileInto(artifactsFolder, contractNames, sourceHash)
}
