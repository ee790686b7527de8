import { readFile } from 'node:fs/promises'
import { stringify } from 'yaml'
import openapiTS, { astToString, type OpenAPI3, type OpenAPITSOptions } from 'openapi-typescript'
import ts from 'typescript'
import { LSP6DataKeys, PERMISSIONS } from '@lukso/lsp6-contracts'
import keyManagerArtifact from '@lukso/lsp6-contracts/artifacts/LSP6KeyManager.json' with { type: 'json' }
import keyManagerPackage from '@lukso/lsp6-contracts/package.json' with { type: 'json' }
import profileArtifact from '@lukso/universalprofile-contracts/artifacts/UniversalProfile.json' with { type: 'json' }
import profilePackage from '@lukso/universalprofile-contracts/package.json' with { type: 'json' }
import { configurationPage } from './configuration-page.ts'
import { openapiDocument, openrpcDocument } from './documents.ts'
import { formatted } from './format.ts'
import { Bundle } from './schemas.ts'

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

async function packageVersion(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

const header = '// Made by `npm run generate`. Never edited: change the schemas in specs/schemas/ instead.\n\n'

/** The TypeScript types of every request, response and component of openapi.yaml. */
async function typesOfOpenapi(openapi: object): Promise<string> {
  return header + astToString(await openapiTS(openapi as OpenAPI3, { immutable: true, transform: emptyTuple }))
}

/** The TypeScript types of the configuration with its defaults filled in; no part of the HTTP interface. */
async function typesOfConfig(): Promise<string> {
  const bundle = new Bundle()
  bundle.ref('config')
  return typesOfOpenapi({
    openapi: '3.1.0',
    info: { title: 'Configuration', version: '' },
    paths: {},
    components: { schemas: bundle.components() },
  })
}

/** A list that must be empty is the type `readonly []`, not a list of unknown length. */
const emptyTuple: NonNullable<OpenAPITSOptions['transform']> = (schema) =>
  'maxItems' in schema && schema.maxItems === 0
    ? ts.factory.createTypeOperatorNode(ts.SyntaxKind.ReadonlyKeyword, ts.factory.createTupleTypeNode([]))
    : undefined

interface PublishedPackage {
  readonly name: string
  readonly version: string
}

/**
 * The parts of LUKSO's published packages that the testbed needs, by path. They are copied, because a user of this package
 * cannot install LUKSO's: npm fetches one of their dependencies by git, unless the user's project itself overrides it.
 */
function luksoFiles(): [path: string, text: string][] {
  const lsp6 = { permissions: PERMISSIONS, dataKeys: LSP6DataKeys }
  return [
    ['contracts/generated/UniversalProfile.json', artifact(profilePackage, profileArtifact)],
    ['contracts/generated/LSP6KeyManager.json', artifact(keyManagerPackage, keyManagerArtifact, lsp6)],
  ]
}

function artifact(
  { name, version }: PublishedPackage,
  { abi, bytecode }: { readonly abi: readonly object[]; readonly bytecode: string },
  constants: object = {},
): string {
  return `${JSON.stringify({ source: `${name}@${version}`, ...constants, abi, bytecode }, null, 2)}\n`
}
