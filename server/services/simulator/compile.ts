import { readFile, writeFile } from 'node:fs/promises'

const source = new URL('Sequences.sol', import.meta.url)
const artifact = new URL('sequences.json', import.meta.url)

/** What {@link compileSequences} makes and `sequences.json` holds. */
export interface SequencesArtifact {
  /** Code as it lies on a chain, hex. */
  readonly runtimeCode: string
}

/** Compiles `Sequences.sol`, offline. */
export async function compileSequences(): Promise<SequencesArtifact> {
  const { default: solc } = await import('solc')
  const input = {
    language: 'Solidity',
    sources: { 'Sequences.sol': { content: await readFile(source, 'utf8') } },
    settings: {
      // Paris has no PUSH0: the code runs on any chain.
      evmVersion: 'paris',
      viaIR: true,
      optimizer: { enabled: true, runs: 200 },
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { Sequences: ['evm.deployedBytecode.object'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as {
    errors?: { severity: string; formattedMessage: string }[]
    contracts: { 'Sequences.sol': { Sequences: { evm: { deployedBytecode: { object: string } } } } }
  }
  const fault = output.errors?.find(({ severity }) => severity === 'error')
  if (fault) throw new Error(fault.formattedMessage)
  return { runtimeCode: `0x${output.contracts['Sequences.sol'].Sequences.evm.deployedBytecode.object}` }
}

// `node server/services/simulator/compile.ts` writes the artifact anew after a change of the source.
if (import.meta.main) await writeFile(artifact, `${JSON.stringify(await compileSequences(), null, 2)}\n`)
