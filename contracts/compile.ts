import { createHardhatRuntimeEnvironment } from 'hardhat/hre'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HardhatUserConfig } from 'hardhat/config'
import { fileURLToPath } from 'node:url'
import { artifactsFolder, contractNames, type Artifact, type ContractName } from './contract-names.ts'
import { hardhatConfig } from './hardhat.ts'

/**
 * Compiles our contracts with Hardhat and writes them to `contracts/artifacts`. Offline: the compiler comes from npm.
 * Works in a folder of its own and renames the results into place, so that processes may do it at the same time.
 *
 * @param sourceHash goes into each artifact, so that a change of the sources is noticed
 */
export async function compileContracts(sourceHash: string): Promise<Record<ContractName, Artifact>> {
  await mkdir(artifactsFolder, { recursive: true })
  const workFolder = await mkdtemp(join(artifactsFolder, '.compile-'))
  try {
    const hre = await createHardhatRuntimeEnvironment(
      {
        ...hardhatConfig,
        solidity,
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

/** How our contracts are compiled. The published package has them compiled, and no compiler. */
export const solidity: NonNullable<HardhatUserConfig['solidity']> = {
  compilers: [
    {
      version: '0.8.28',
      // solc from npm: Hardhat would otherwise download a list of compilers.
      path: fileURLToPath(import.meta.resolve('solc/soljson.js')),
      // Paris has no PUSH0: the contracts can be provisioned on any chain.
      settings: {
        evmVersion: 'paris',
        optimizer: { enabled: true, runs: 200 },
        // The server knows the bundler by the hash of its code, which no comment and no path shall change.
        metadata: { bytecodeHash: 'none', appendCBOR: false },
      },
    },
  ],
}
