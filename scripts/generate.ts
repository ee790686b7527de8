import { writeFile } from 'node:fs/promises'
import { generatedFiles } from './generate/files.ts'

/** `npm run generate`: writes what is made from the clauses, the schemas and the error catalogue. */
for (const [path, text] of await generatedFiles()) {
  await writeFile(new URL(`../${path}`, import.meta.url), text)
  console.log(path)
}
