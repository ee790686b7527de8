import { expect } from 'chai'
import { build } from 'esbuild'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const index = join(import.meta.dirname, '../index.ts')
const LARGEST_BYTES = 12_000

/** What a page would load that uses the client in this way. */
async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    // A module of Node would be an error.
    platform: 'browser',
  })
  return outputFiles[0]?.text ?? ''
}

describe('the client in a bundle', () => {
  it('takes 12 kB at most, compressed, and nothing of Node', async () => {
    const code = await bundle(`export * from ${JSON.stringify(index)}`)
    expect(gzipSync(code).length).to.be.below(LARGEST_BYTES)
    expect(code).not.to.match(/["'`]node:|\bBuffer\.|\bprocess\.|\brequire\(/)
    expect(code).not.to.match(/\bimport\s*[({"']/)
  })

  it('leaves out what is not used', async () => {
    const code = await bundle(`import { isRelayError } from ${JSON.stringify(index)}\nconsole.log(isRelayError(1))`)
    expect(code.length).to.be.below(1_500)
  })
})
