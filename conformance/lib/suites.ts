import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { type ClauseId, clauses, type RequirementSet, requirementSets } from '../../specs/index.ts'
import type { Suite } from '../suite.ts'
import type { ClauseSuite } from './clause.ts'
import { UsageError } from './outcome.ts'
import type { Plan } from './report-types.ts'
import { violations } from './schema.ts'

const folder = new URL('../suites/', import.meta.url)
const order = Object.keys(clauses)

/**
 * Loads the checks of every clause from each `suites/<folder>/<id>.conformance.ts`, in the order of the documents.
 * Several files may hold checks of one clause.
 */
export async function loadSuites(): Promise<ClauseSuite<ClauseId>[]> {
  const paths = (await readdir(folder, { recursive: true }))
    .filter((path) => /\.conformance\.(ts|js)$/.test(path))
    .sort()
  const byId = new Map<ClauseId, ClauseSuite<ClauseId>>()
  for (const path of paths) {
    const module = (await import(new URL(path, folder).href)) as { default: readonly ClauseSuite<ClauseId>[] }
    for (const suite of module.default) {
      const { id, checks } = suite
      byId.set(id, { ...suite, checks: [...(byId.get(id)?.checks ?? []), ...checks] })
    }
  }
  return [...byId.values()].sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id))
}

/** Whether `--only` selects this clause. The option names ids, or the beginnings of ids, separated by commas. */
export function isSelected(id: string, only: string | null): boolean {
  return only === null || only.split(',').some((name) => id.startsWith(name.replace(/\*$/, '')))
}

/** The suites with the checks of these titles alone. `named` has the titles by clause id. */
export function ofChecks(
  suites: readonly ClauseSuite[],
  named: Readonly<Record<string, readonly string[]>>,
): readonly ClauseSuite[] {
  return suites.flatMap((suite) => {
    const titles = Object.hasOwn(named, suite.id) ? named[suite.id] : undefined
    return titles ? [{ ...suite, checks: suite.checks.filter(({ title }) => titles.includes(title)) }] : []
  })
}

/** About the gas of one relay call of the suite: `setData` of a short value through the key manager. */
const gasOfCall = 120_000

/** How many required clauses both documents have for a relay, or for a client. */
export function countRequired(whom: 'relay' | 'client' = 'relay'): number {
  return Object.values(clauses).filter(
    ({ level, document }) => level === 'required' && (document === 'client') === (whom === 'client'),
  ).length
}

/** @param maxTransactions the budget of the run; 0 when the run is read-only or has no fixture to sign with */
export function planOf(
  suites: readonly ClauseSuite[],
  { target, edition, maxTransactions }: Pick<Plan, 'target' | 'edition'> & { readonly maxTransactions: number },
): Plan {
  const checks = suites.flatMap(({ clause, checks }) =>
    checks.map(({ needs = clause.needs, maySpend = false }) => maySpend || needs.includes('spend')),
  )
  const spending = checks.filter((spends) => spends).length
  const transactions = Math.min(spending, maxTransactions)
  return {
    target,
    edition,
    checks: checks.length,
    required: suites.filter(({ clause }) => clause.level === 'required' && clause.document !== 'extension').length,
    ofRequired: countRequired(),
    transactions,
    gas: transactions * gasOfCall,
  }
}

/** A suite of somebody else, ready to run. */
export interface LoadedSuite {
  /** The package or the file, as it was named. */
  readonly source: string
  /** Of the package; absent: a file. */
  readonly version?: string
  readonly suite: Suite
  /** The clauses with their checks, in the order of `clauses`. */
  readonly clauses: readonly ClauseSuite[]
}

/**
 * Loads suites by the names of their packages, or by their paths, which begin with `.` or `/`.
 *
 * @param baseFolder where paths begin, and packages are looked for
 * @throws UsageError in one line that names the suite and the field
 */
export async function loadSuitesOf(sources: readonly string[], baseFolder: string): Promise<LoadedSuite[]> {
  const loaded: LoadedSuite[] = []
  for (const source of new Set(sources)) {
    const one = await loadSuite(source, baseFolder)
    const twin = loaded.find(({ suite }) => suite.prefix === one.suite.prefix)
    if (twin) throw wrong(source, 'prefix', `'${one.suite.prefix}' is already taken by ${twin.source}`)
    loaded.push(one)
  }
  return loaded
}

/**
 * What suites want of the reference server that a testbed starts, as one configuration.
 *
 * @throws UsageError when two suites want something different
 */
export function testbedConfigOf(loaded: readonly LoadedSuite[]): Record<string, unknown> {
  return loaded.reduce<Record<string, unknown>>(
    (config, { source, suite }) =>
      merged(config, suite.environment?.server ?? {}, `suite ${source}: environment/server`),
    {},
  )
}

/** Both objects as one: lists are joined, other values must be the same. */
function merged(
  before: Readonly<Record<string, unknown>>,
  added: Readonly<Record<string, unknown>>,
  path: string,
): Record<string, unknown> {
  const both = { ...before }
  for (const [name, value] of Object.entries(added)) {
    const present = both[name]
    if (Array.isArray(present) && Array.isArray(value)) both[name] = [...new Set<unknown>([present, value].flat())]
    else if (isObject(present) && isObject(value)) both[name] = merged(present, value, `${path}/${name}`)
    else if (present === undefined || isDeepStrictEqual(present, value)) both[name] = value
    else throw new UsageError(`${path}/${name}: another suite wants another value; start the relay and name its URL`)
  }
  return both
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

async function loadSuite(source: string, baseFolder: string): Promise<LoadedSuite> {
  const isPath = source.startsWith('.') || isAbsolute(source)
  const url = isPath ? pathToFileURL(resolve(baseFolder, source)).href : resolvePackage(source, baseFolder)
  let module: { readonly default?: unknown }
  try {
    module = (await import(url)) as typeof module
  } catch (cause) {
    throw wrong(source, '', `cannot be imported: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  const suite = checked(source, module.default)
  const version = isPath ? undefined : versionOf(url)
  const clauses = Object.entries(suite.clauses).map(([id, row]): ClauseSuite => ({
    id,
    clause: { document: 'extension', ...row },
    checks: suite.checks.filter((one) => one.id === id).flatMap((one) => one.checks),
  }))
  return { source, ...(version === undefined ? {} : { version }), suite, clauses }
}

/** From the folder, else from this package, which a suite may be installed beside. */
function resolvePackage(name: string, baseFolder: string): string {
  try {
    return pathToFileURL(createRequire(join(baseFolder, 'package.json')).resolve(name)).href
  } catch {
    return name
  }
}

/** The version of the package that the module is in. */
function versionOf(url: string): string | undefined {
  if (!url.startsWith('file:')) return undefined
  for (let folder = dirname(fileURLToPath(url)); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version?: string }).version
    } catch {
      // The package begins further up.
    }
  }
  return undefined
}

function wrong(source: string, field: string, reason: string): UsageError {
  return new UsageError([`suite ${source}`, field, reason].filter(Boolean).join(': ').replace(/\s+/g, ' '))
}

/** @throws UsageError when the export does not fit the schema, or its parts do not fit each other */
function checked(source: string, exported: unknown): Suite {
  if ((exported as { kind?: unknown } | undefined)?.kind !== 'suite') {
    throw wrong(source, 'default', 'the default export is not made by defineSuite')
  }
  const [violation] = violations(withoutFunctions(exported), 'suite')
  if (violation !== undefined) throw wrong(source, '', violation.replace(/^\//, ''))
  const suite = exported as Suite
  for (const [field, reason] of contradictions(suite)) throw wrong(source, field, reason)
  return suite
}

/** A copy in which each function is the text `function`. */
function withoutFunctions(value: unknown): unknown {
  if (typeof value === 'function') return 'function'
  if (Array.isArray(value)) return value.map(withoutFunctions)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [name, withoutFunctions(member)]))
}

/** What no schema can say, as field and reason. */
function* contradictions({ prefix, clauses, checks, mutants = [], lawful = [] }: Suite): Generator<[string, string]> {
  const has = (id: string): boolean => Object.hasOwn(clauses, id)
  for (const id of Object.keys(clauses)) {
    if (!id.startsWith(`${prefix}.`)) yield [`clauses/${id}`, `does not begin with '${prefix}.'`]
    const titles = checks.filter((one) => one.id === id).flatMap((one) => one.checks.map(({ title }) => title))
    if (titles.length === 0) yield [`clauses/${id}`, 'no check judges it']
    const twice = titles.find((title, index) => titles.indexOf(title) !== index)
    if (twice !== undefined) yield [`clauses/${id}`, `has two checks "${twice}"`]
  }
  for (const [index, { id }] of checks.entries()) {
    if (!has(id)) yield [`checks/${index}/id`, `there is no clause '${id}'`]
  }
  const names = new Set<string>()
  for (const [index, { clause, name = '' }] of mutants.entries()) {
    if (!has(clause)) yield [`mutants/${index}/clause`, `there is no clause '${clause}'`]
    if (names.has(`${clause} ${name}`)) yield [`mutants/${index}/name`, `another mutant of ${clause} has this name`]
    names.add(`${clause} ${name}`)
  }
  for (const [index, { clauses: about, id }] of lawful.entries()) {
    const stray = about.find((one) => !has(one))
    if (stray !== undefined) yield [`lawful/${index}/clauses`, `there is no clause '${stray}'`]
    if (lawful.findIndex((one) => one.id === id) !== index) yield [`lawful/${index}/id`, `'${id}' is there twice`]
  }
}

/** The hash of the words of a sentence. Sentences that differ in commas and capitals alone have the same hash. */
export function hashOfSentence(text: string): string {
  const words = text.toLowerCase().match(/±|[\p{L}\p{N}_]+(?:[.-][\p{L}\p{N}_]+)*/gu) ?? []
  return createHash('sha256').update(words.join(' ')).digest('hex').slice(0, 16)
}

/** What a set of requirements would freeze of these suites now: levels, sentences and checks of each clause. */
export function requirementsOf(suites: readonly ClauseSuite[]): RequirementSet {
  const checks = new Map<string, readonly string[]>(
    suites.map(({ id, checks }) => [id, checks.map(({ title }) => title)]),
  )
  const ofRelays = Object.entries(clauses).filter(([, { document }]) => document !== 'client')
  return Object.fromEntries(
    ofRelays.map(([id, { level, text, editions = {} }]) => {
      const sentences = Object.entries({ documents: text, ...editions }).map(([name, one]) => [
        name,
        hashOfSentence(one),
      ])
      return [
        id,
        { level, sentences: Object.fromEntries(sentences) as Record<string, string>, checks: checks.get(id) ?? [] },
      ]
    }),
  )
}

/**
 * The clauses and checks of a set of requirements.
 *
 * @param name absent: all
 * @throws UsageError when there is no such set
 */
export function ofRequirements(suites: readonly ClauseSuite[], name: string | undefined): readonly ClauseSuite[] {
  if (name === undefined) return suites
  const set = Object.hasOwn(requirementSets, name) ? requirementSets[name] : undefined
  if (!set) {
    throw new UsageError(`there are no requirements ${name}; there are ${Object.keys(requirementSets).join(', ')}`)
  }
  return ofChecks(suites, Object.fromEntries(Object.entries(set).map(([id, { checks }]) => [id, checks])))
}

/**
 * What of a set of requirements is no longer as it was frozen, and what decides the verdict without being in the set, one line each. A
 * recommended clause, or a question, may be added to a set's clauses: it decides no verdict.
 */
export function changesSince(set: RequirementSet, now: RequirementSet, isNewest: boolean): string[] {
  const changed = Object.entries(set).flatMap(([id, { level, sentences, checks }]) => {
    const present = now[id]
    if (!present) return [`${id} is gone`]
    const lost = checks.filter((title) => !present.checks.includes(title))
    return [
      ...(present.level === level ? [] : [`${id} was ${level} and is ${present.level}`]),
      ...Object.keys(sentences).flatMap((edition) =>
        present.sentences[edition] === sentences[edition] ? [] : [`${id} has another sentence (${edition})`],
      ),
      ...lost.map((title) => `${id} has lost the check "${title}"`),
    ]
  })
  if (!isNewest) return changed
  const added = Object.entries(now).flatMap(([id, { level, checks }]) => {
    if (level !== 'required') return []
    const frozen = set[id]
    if (!frozen) return [`${id} is required, and new`]
    return checks.filter((title) => !frozen.checks.includes(title)).map((title) => `${id} has a new check "${title}"`)
  })
  return [...changed, ...added]
}
