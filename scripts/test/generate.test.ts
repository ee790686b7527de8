import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { generatedFiles } from '../generate/files.ts'

describe('npm run generate', () => {
  it('would change nothing: what is committed is what the schemas make', async () => {
    const files = await generatedFiles()
    expect([...files.keys()]).to.include.members([
      'specs/openapi.yaml',
      'specs/openrpc.json',
      'specs/generated/openapi.ts',
      'specs/generated/config.ts',
    ])
    for (const [path, text] of files) {
      const committed = await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
      // Compared first: chai's difference of two long texts takes minutes.
      if (committed !== text) expect.fail(`${path} is stale: run npm run generate`)
    }
  })
})
