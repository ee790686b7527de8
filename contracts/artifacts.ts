import type { HardhatUserConfig } from 'hardhat/config'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

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
  return (await compileContracts(sourceHash))[name]
}

/** SHA-256 of all files that decide an artifact. Undefined where the sources are absent. */
async function hashSources(): Promise<string | undefined> {
  const files = [...contractNames.map((name) => `${name}.sol`), 'hardhat.ts', 'artifacts.ts']
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
 * Compiles the contracts with Hardhat, offline, and writes them to `contracts/artifacts`. Several processes may do so at the
 * same time: each works in a folder of its own and renames its results into place.
 *
 * @param sourceHash goes into each artifact, so that a change of the sources is noticed
 */
export async function compileContracts(sourceHash: string): Promise<Record<ContractName, Artifact>> {
  // Loaded when contracts are compiled, because the published package has no compiler.
  const [{ createHardhatRuntimeEnvironment }, { hardhatConfig }] = await Promise.all([
    import('hardhat/hre'),
    import('./hardhat.ts'),
  ])
  await mkdir(artifactsFolder, { recursive: true })
  const workFolder = await mkdtemp(join(artifactsFolder, '.compile-'))
  try {
    const hre = await createHardhatRuntimeEnvironment(
      {
        ...hardhatConfig,
        solidity: soliditySettings(),
        paths: { ...hardhatConfig.paths, artifacts: workFolder, cache: join(workFolder, 'cache') },
      },
      {},
      import.meta.dirname,
    )
    await hre.tasks.getTask('build').run({ quiet: true, noTests: true })
    const compiled = await Promise.all(
      contractNames.map(async (name) => {
        const { abi, bytecode, deployedBytecode } = await hre.artifacts.readArtifact(name)
        const artifact: Artifact = { abi: abi as object[], bytecode, deployedBytecode, sourceHash }
        const draft = join(workFolder, `${name}.json`)
        await writeFile(draft, JSON.stringify(artifact, null, 2) + '\n')
        await rename(draft, join(artifactsFolder, `${name}.json`))
        return [name, artifact] as const
      }),
    )
    return Object.fromEntries(compiled) as Record<ContractName, Artifact>
  } finally {
    await rm(workFolder, { recursive: true, force: true })
  }
}

/** How the contracts are compiled. */
export function soliditySettings(): NonNullable<HardhatUserConfig['solidity']> {
  return {
    compilers: [
      {
        version: '0.8.28',
        // The compiler of the package `solc`. Without this path Hardhat downloads a list of compilers.
        path: fileURLToPath(import.meta.resolve('solc/soljson.js')),
        settings: {
          // Paris has no PUSH0, so the contracts run on every chain.
          evmVersion: 'paris',
          optimizer: { enabled: true, runs: 200 },
          // The server knows the bundler by the hash of its code. No comment and no path may change that hash.
          metadata: { bytecodeHash: 'none', appendCBOR: false },
        },
      },
    ],
  }
}
