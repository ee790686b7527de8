import { readFile, writeFile } from 'node:fs/promises'

const source = new URL('sequences.yul', import.meta.url)
const artifact = new URL('sequences.json', import.meta.url)

/** What {@link compileSequences} makes and `sequences.json` holds. */
export interface SequencesArtifact {
  /** Code as it lies on a chain, hex. */
  readonly runtimeCode: string
}

/** Compiles `sequences.yul`, offline. */
export async function compileSequences(): Promise<SequencesArtifact> {
  const { default: solc } = await import('solc')
  const input = {
    language: 'Yul',
    sources: { 'sequences.yul': { content: await readFile(source, 'utf8') } },
    settings: {
      // Paris has no PUSH0: the code runs on any chain.
      evmVersion: 'paris',
      optimizer: { enabled: true, details: { yul: true } },
      outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as {
    errors?: { severity: string; formattedMessage: string }[]
    contracts: { 'sequences.yul': { Sequences: { evm: { bytecode: { object: string } } } } }
  }
  const fault = output.errors?.find(({ severity }) => severity === 'error')
  if (fault) throw new Error(fault.formattedMessage)
  return { runtimeCode: `0x${output.contracts['sequences.yul'].Sequences.evm.bytecode.object}` }
}

// `node server/services/simulator/compile.ts` writes the artifact anew after a change of the source.
if (import.meta.main) await writeFile(artifact, `${JSON.stringify(await compileSequences(), null, 2)}\n`)
