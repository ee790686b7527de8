import type { HardhatUserConfig } from 'hardhat/config'
import { fileURLToPath } from 'node:url'

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
