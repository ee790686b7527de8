import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { artifactsFolder, contractNames, type Artifact, type ContractName } from './contract-names.ts'

export { artifactsFolder, contractNames, type Artifact } from './contract-names.ts'

/**
 * Loads a contract of ours, and compiles it first if its source or the compiler's settings have changed since.
 * The published package holds no sources: there the artifact is taken as it is.
 */
export async function loadArtifact(name: ContractName): Promise<Artifact> {
  const [artifact, sourceHash] = await Promise.all([readArtifact(name), hashSources()])
  if (artifact && (sourceHash === undefined || artifact.sourceHash === sourceHash)) return artifact
  if (sourceHash === undefined) throw new Error(`the contract ${name} is missing from ${artifactsFolder}`)
  const { compileContracts } = await import('./compile.ts')
  return (await compileContracts(sourceHash))[name]
}

/** SHA-256 over everything that decides an artifact; undefined where the sources are absent. */
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
