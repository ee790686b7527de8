import { readFile } from 'node:fs/promises'
import { format, resolveConfig } from 'prettier'
import { stringify } from 'yaml'
import { configurationPage } from './configuration-page.ts'
import { luksoFiles } from './lukso.ts'
import { openapiDocument } from './openapi.ts'
import { openrpcDocument } from './openrpc.ts'
import { typesOfConfig, typesOfOpenapi } from './types.ts'

/** Every generated file: its path in the repository and its text. Writes nothing. */
export async function generatedFiles(): Promise<Map<string, string>> {
  const version = await packageVersion()
  const openapi = openapiDocument(version)
  return new Map([
    [
      'specs/openapi.yaml',
      await formatted('specs/openapi.yaml', stringify(openapi, { aliasDuplicateObjects: false, lineWidth: 0 })),
    ],
    ['specs/openrpc.json', await formatted('specs/openrpc.json', JSON.stringify(openrpcDocument(version)))],
    ['docs/configuration.md', await formatted('docs/configuration.md', configurationPage())],
    ['specs/generated/openapi.ts', await typesOfOpenapi(openapi)],
    ['specs/generated/config.ts', await typesOfConfig()],
    ...luksoFiles(),
  ])
}

/** Formatted as prettier wants it, because people read the generated documents, too. */
export async function formatted(path: string, text: string): Promise<string> {
  const filepath = new URL(`../../${path}`, import.meta.url).pathname
  return format(text, { ...(await resolveConfig(filepath)), filepath })
}

async function packageVersion(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
