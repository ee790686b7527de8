import type { HardhatUserConfig } from 'hardhat/config'
import { createHardhatRuntimeEnvironment } from 'hardhat/hre'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hardhatConfig } from './hardhat.ts'

/** How the contracts are compiled. */
export const solidity: NonNullable<HardhatUserConfig['solidity']> = {
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

/**
 * Compiles the contracts with Hardhat, offline, and writes `<name>.json` into a folder. Several processes may do so at the
 * same time: each works in a folder of its own and renames its results into place. The published package lacks this file,
 * because it has no compiler.
 *
 * @param sourceHash goes into each artifact, so that a change of the sources is noticed
 */
export async function compileInto<Name extends string>(folder: string, names: readonly Name[], sourceHash: string) {
  await mkdir(folder, { recursive: true })
  const workFolder = await mkdtemp(join(folder, '.compile-'))
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
    // Hardhat imports the compiler by its path, which is none in a folder with # or % in its name.
    hre.hooks.registerHandlers('solidity', {
      getCompiler: async (context, config, next) =>
        Object.assign(await next(context, config), { compilerPath: import.meta.resolve('solc/soljson.js') }),
    })
    await hre.tasks.getTask('build').run({ quiet: true, noTests: true })
    const compiled = await Promise.all(
      names.map(async (name) => {
        const { abi, bytecode, deployedBytecode } = await hre.artifacts.readArtifact(name)
        const artifact = { abi: abi as object[], bytecode, deployedBytecode, sourceHash }
        const draft = join(workFolder, `${name}.json`)
        await writeFile(draft, JSON.stringify(artifact, null, 2) + '\n')
        await rename(draft, join(folder, `${name}.json`))
        return [name, artifact] as const
      }),
    )
    return Object.fromEntries(compiled) as Record<Name, (typeof compiled)[number][1]>
  } finally {
    await rm(workFolder, { recursive: true, force: true })
  }
}
