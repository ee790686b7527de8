import type { AnySchemaObject } from 'ajv/dist/2020.js'
import { readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { clauses, insteadOf } from '../../specs/index.ts'
import type { Plugin, PluginKind, QuotaPlugin, RelayPlugin, RpcMethodPlugin, Services } from './define.ts'
import { PluginError } from './errors.ts'
import { brokenRuleOf, fieldOf, validatorOf, type Validate, type Validator } from './validate.ts'

/** A plugin that passed every check, with its validators and its options; `needs` is handed over by `servicesFor`. */
interface Loaded<P> {
  readonly plugin: P
  readonly file: string
  /** The configured options, defaults filled in. */
  readonly options: unknown
}

interface LoadedRpcMethod extends Loaded<RpcMethodPlugin> {
  readonly validateParams: Validate
  readonly validateResult: Validate
}

export interface LoadedRelay extends Loaded<RelayPlugin> {
  readonly validateRequest: Validate
  readonly validateResponse: Validate
}

export interface LoadedQuota extends Loaded<QuotaPlugin> {
  /** @throws Error in one line when a plan's options break the model's schema */
  parseOptions(options: unknown): unknown
}

/** The plugins of a server, by kind. */
export interface Registry {
  readonly rpcMethods: ReadonlyMap<string, LoadedRpcMethod>
  readonly relays: readonly LoadedRelay[]
  readonly quotas: ReadonlyMap<string, LoadedQuota>
}

/** Options by `<kind>/<id>`, as the configuration has them. */
export type PluginOptions = Readonly<Record<string, unknown>>

/**
 * Checks every discovered plugin against `specs/schemas/plugin/<kind>.json` and what a schema cannot say.
 *
 * @throws PluginError for the first plugin that is broken
 */
export function createRegistry(discovered: readonly DiscoveredPlugin[], options: PluginOptions = {}): Registry {
  const forms = validatorOf('all-errors')
  const requests = validatorOf('first-error')
  const seen = new Map<string, string>()
  const rpcMethods = new Map<string, LoadedRpcMethod>()
  const relays: LoadedRelay[] = []
  const quotas = new Map<string, LoadedQuota>()

  for (const found of discovered) {
    const plugin = checkManifest(found, forms)
    const id = idOf(plugin)
    checkNames(found, plugin, id)
    const key = `${plugin.kind}/${id}`
    const twin = seen.get(key)
    if (twin !== undefined) throw new PluginError(found.file, idField(plugin), `'${id}' is already taken by ${twin}`)
    seen.set(key, found.file)

    const parseOptions = optionsParser(found.file, plugin, forms)
    // A quota model's options are those of each plan that uses it.
    const loaded = { file: found.file, options: plugin.kind === 'quota' ? {} : parseOptions(options[key]) }
    switch (plugin.kind) {
      case 'rpc-method': {
        const compile = schemaCompiler(found.file, key, plugin.schema, requests)
        const [validateParams, validateResult] = [compile('params'), compile('result')]
        rpcMethods.set(id, { ...loaded, plugin, validateParams, validateResult })
        break
      }
      case 'relay': {
        const compile = schemaCompiler(found.file, `relay${plugin.path}`, plugin.schema, forms)
        const [validateRequest, validateResponse] = [compile('request'), compile('response')]
        relays.push({ ...loaded, plugin, validateRequest, validateResponse })
        break
      }
      case 'quota':
        quotas.set(id, { ...loaded, plugin, parseOptions })
        break
    }
  }

  for (const key of Object.keys(options)) {
    if (key.startsWith('quota/')) throw new PluginError(key, 'options', 'a quota model takes them from its plans')
    if (!seen.has(key)) {
      throw new PluginError(key, 'options', `there is no such plugin to take them${insteadOf(key, [...seen.keys()])}`)
    }
  }
  return { rpcMethods, relays, quotas }
}

/**
 * The services a plugin asked for, and no others.
 *
 * @throws PluginError when it needs one that this server does not have
 */
export function servicesFor(loaded: Loaded<Plugin>, services: Services): Pick<Services, never> {
  const picked: Partial<Record<string, unknown>> = {}
  for (const [index, name] of (loaded.plugin.needs as readonly string[]).entries()) {
    if (!Object.hasOwn(services, name)) {
      throw new PluginError(
        loaded.file,
        `needs/${index}`,
        `there is no service '${name}'${insteadOf(name, Object.keys(services))}`,
      )
    }
    picked[name] = services[name as keyof Services]
  }
  return picked
}

function checkManifest(found: DiscoveredPlugin, forms: Validator): Plugin {
  const { exported, file } = found
  const kind = isRecord(exported) ? exported['kind'] : undefined
  if (!isKind(kind)) {
    throw new PluginError(file, 'kind', 'the default export is not made by defineRpcMethod, defineRelay or defineQuota')
  }
  const validate = forms.compileKey(`plugin/${kind}`)
  const manifest = Object.entries(exported as Record<string, unknown>).map(([name, value]) => [
    name,
    typeof value === 'function' ? 'function' : value,
  ])
  // A copy: defaults must not be written into somebody's module.
  if (!validate(structuredClone(Object.fromEntries(manifest)))) {
    const error = validate.errors?.[0]
    if (error) throw new PluginError(file, fieldOf(error, 'manifest'), brokenRuleOf(error))
  }
  return exported as Plugin
}

function checkNames(found: DiscoveredPlugin, plugin: Plugin, id: string): void {
  const { expectedId, expectedKind, file } = found
  if (expectedKind !== undefined && plugin.kind !== expectedKind) {
    throw new PluginError(file, 'kind', `is '${plugin.kind}', but the folder is for '${expectedKind}'`)
  }
  if (expectedId !== undefined && id !== expectedId) {
    throw new PluginError(file, idField(plugin), `is '${id}', but the file is named '${expectedId}'`)
  }
  for (const [index, clause] of plugin.clauses.entries()) {
    if (!Object.hasOwn(clauses, clause)) {
      throw new PluginError(
        file,
        `clauses/${index}`,
        `there is no clause '${clause}'${insteadOf(clause, Object.keys(clauses))}`,
      )
    }
  }
}

/** Compiles the plugin's own schema if it brought one, else that of `specs/schemas/<key>.json`. */
function schemaCompiler(file: string, key: string, own: AnySchemaObject | undefined, validator: Validator) {
  if (own === undefined && !validator.has(key)) {
    throw new PluginError(file, 'schema', `there is no specs/schemas/${key}.json, and the plugin brings none`)
  }
  return (property: string): Validate => {
    try {
      return own === undefined ? validator.compileKey(key, property) : validator.compile(own, property)
    } catch (cause) {
      throw new PluginError(file, `schema/properties/${property}`, messageOf(cause), { cause })
    }
  }
}

function optionsParser(file: string, plugin: Plugin, forms: Validator): (options: unknown) => unknown {
  if (plugin.options === undefined) {
    return (options) => {
      if (options !== undefined) throw new PluginError(file, 'options', 'this plugin takes none')
      return {}
    }
  }
  let validate: Validate
  try {
    validate = forms.compile(plugin.options)
  } catch (cause) {
    throw new PluginError(file, 'options', messageOf(cause), { cause })
  }
  return (options) => {
    const filled = structuredClone(options ?? {})
    if (validate(filled)) return filled
    const error = validate.errors?.[0]
    throw new PluginError(
      file,
      `options/${error ? fieldOf(error, '') : ''}`.replace(/\/$/, ''),
      error ? brokenRuleOf(error) : 'invalid',
    )
  }
}

const idField = (plugin: Plugin) => (plugin.kind === 'rpc-method' ? 'method' : 'id')
const idOf = (plugin: Plugin) => (plugin.kind === 'rpc-method' ? plugin.method : plugin.id)
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const isKind = (kind: unknown): kind is PluginKind => kind === 'rpc-method' || kind === 'relay' || kind === 'quota'
const messageOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

/** A module's default export, not validated yet. */
interface DiscoveredPlugin {
  /** Its name in errors: a path, or a package's name. */
  readonly file: string
  /** What its id must be; absent for packages, whose file name means nothing. */
  readonly expectedId?: string
  /** What its kind must be; absent for external plugins, which may be of any. */
  readonly expectedKind?: PluginKind
  readonly exported: unknown
}

const kinds: readonly PluginKind[] = ['rpc-method', 'relay', 'quota']

/** Imports every module in `<folder>/{rpc-method,relay,quota}/`; a folder that is missing holds no plugins. */
export async function discoverFolder(folder: string): Promise<DiscoveredPlugin[]> {
  const found = await Promise.all(
    kinds.map(async (kind) => {
      const names = await readdir(path.join(folder, kind)).catch(() => [])
      const modules = names.filter((name) => /(?<!\.d)\.(ts|js)$/.test(name)).sort()
      return Promise.all(
        modules.map(async (name) => ({
          ...(await importDefault(pathToFileURL(path.join(folder, kind, name)).href, `${kind}/${name}`)),
          expectedId: path.parse(name).name,
          expectedKind: kind,
        })),
      )
    }),
  )
  return found.flat()
}

/**
 * Imports external plugins. A package may export one plugin or a list of them.
 *
 * @param specifiers package names, or paths (starting with `.` or `/`), relative to `baseFolder`
 */
export async function discoverExternal(specifiers: readonly string[], baseFolder: string): Promise<DiscoveredPlugin[]> {
  const found = await Promise.all(
    specifiers.map(async (specifier) => {
      const isPath = specifier.startsWith('.') || path.isAbsolute(specifier)
      const target = isPath
        ? pathToFileURL(path.resolve(baseFolder, specifier)).href
        : resolvePackage(specifier, baseFolder)
      const { exported } = await importDefault(target, specifier)
      if (Array.isArray(exported)) return exported.map((one: unknown) => ({ file: specifier, exported: one }))
      return [
        isPath ? { file: specifier, expectedId: path.parse(specifier).name, exported } : { file: specifier, exported },
      ]
    }),
  )
  return found.flat()
}

/** Resolves the package from the configuration's folder, else from this server (exports for `import` only). */
function resolvePackage(name: string, baseFolder: string): string {
  try {
    return pathToFileURL(createRequire(path.join(baseFolder, 'package.json')).resolve(name)).href
  } catch {
    return name
  }
}

async function importDefault(target: string, name: string): Promise<DiscoveredPlugin> {
  let module: { default?: unknown }
  try {
    module = (await import(target)) as { default?: unknown }
  } catch (cause) {
    throw new PluginError(name, '', `cannot be imported: ${messageOf(cause)}`, {
      cause,
    })
  }
  if (module.default === undefined) throw new PluginError(name, 'default', 'the module has no default export')
  return { file: name, exported: module.default }
}
