import { environmentVariables } from '../../server/config/environment.ts'
import { schemas, type JsonSchema } from '../../specs/index.ts'

/** `docs/configuration.md`: every member of the configuration, as `specs/schemas/config.json` describes it. */
export function configurationPage(): string {
  const schema = schemas['config'] ?? {}
  const variables = new Map(environmentVariables().map(({ name, path }) => [path.join('.'), name]))
  const sections = members(schema)
    .filter(([name]) => name !== '$schema')
    .map(([name, section]) => {
      const rows = leaves(section, name).map(([path, leaf]) => row(path, leaf, variables.get(path)))
      return [`## ${name}`, '', String(section['description']), '', ...table(rows), ''].join('\n')
    })
  return [
    '# Configuration',
    '',
    '<!-- Made by `npm run generate` from specs/schemas/config.json. -->',
    '',
    '`touchstone serve --config relay.yaml` reads one file, JSON or YAML. Environment variables go over it, so a server',
    'may also run without a file. `--print-config` shows what is in force, secrets redacted. Relative paths are relative',
    'to the file.',
    '',
    String(schema['description']),
    '',
    'Secrets come from the environment and from files:',
    '',
    '| where | what |',
    '| --- | --- |',
    '| `TOUCHSTONE_SIGNER_KEYS` (or the name in `signers.privateKeysFromEnv`) | private keys of the relayer accounts, in hex, separated by commas |',
    '| `signers.keystores` | encrypted JSON keystores, each with a file that holds its password |',
    '| `DATABASE_URL` | a PostgreSQL server instead of the embedded database |',
    '',
    ...sections,
  ].join('\n')
}

function members(schema: JsonSchema): [string, JsonSchema][] {
  return Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>)
}

function leaves(schema: JsonSchema, path: string): [string, JsonSchema][] {
  const inner = members(schema)
  return inner.length === 0 ? [[path, schema]] : inner.flatMap(([name, one]) => leaves(one, `${path}.${name}`))
}

function table(rows: readonly string[]): string[] {
  return ['| member | type | default | environment | what |', '| --- | --- | --- | --- | --- |', ...rows]
}

function row(path: string, schema: JsonSchema, variable: string | undefined): string {
  const fallback = schema['default'] === undefined ? '' : `\`${JSON.stringify(schema['default'])}\``
  const cells = [
    `\`${path}\``,
    typeOf(schema),
    fallback,
    variable ? `\`${variable}\`` : '',
    String(schema['description']),
  ]
  return `| ${cells.join(' | ')} |`
}

function typeOf(schema: JsonSchema): string {
  const choices = schema['enum'] as readonly string[] | undefined
  if (choices) return choices.map((choice) => `\`${choice}\``).join(', ')
  const forms = schema['anyOf'] as readonly JsonSchema[] | undefined
  if (forms) return forms.map(typeOf).join(' or ')
  if (schema['type'] === 'array') return `list of ${typeOf((schema['items'] ?? {}) as JsonSchema)}s`
  return String(schema['type'])
}
