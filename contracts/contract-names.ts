import { join } from 'node:path'

/** The contracts of this folder. */
export const contractNames = ['Bundler', 'Hostile', 'Impostor', 'LogEmitter', 'LogPair', 'Target'] as const

export type ContractName = (typeof contractNames)[number]

/** A compiled contract, as it lies in `contracts/artifacts/<name>.json`. */
export interface Artifact {
  readonly abi: readonly object[]
  /** Creation code, hex. */
  readonly bytecode: string
  /** The code that the chain keeps, hex. */
  readonly deployedBytecode: string
  /** What it was compiled from, see `loadArtifact`. */
  readonly sourceHash: string
}

export const artifactsFolder = join(import.meta.dirname, 'artifacts')
