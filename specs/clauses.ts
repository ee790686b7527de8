import { readdirSync, readFileSync } from 'node:fs'
import client from './clauses/client.json' with { type: 'json' }
import ethRpc from './clauses/eth-rpc.json' with { type: 'json' }
import relay from './clauses/relay.json' with { type: 'json' }

/** The permanent id of a normative sentence; what is not a row of `specs/clauses/*.json` does not compile. */
export type ClauseId = keyof typeof ethRpc | keyof typeof relay | keyof typeof client

/**
 * - `required`: the document says it; a target that breaks it is not conformant.
 * - `recommended`: the document leans on a standard and is silent itself; broken, it is a warning.
 * - `unspecified`: the document says "not shown" or contradicts itself; a question without a verdict.
 */
export type ClauseLevel = 'required' | 'recommended' | 'unspecified'

/**
 * What a check wants beyond the URL: `chain` the RPC URL of a node as the truth, `fixture` a profile with controllers,
 * `spend` the relay pays for a transaction, `clock` the offset to the target's clock, `fuzz` a run with random requests.
 */
export type ClauseNeed = 'chain' | 'fixture' | 'spend' | 'clock' | 'fuzz'

/** One normative sentence: of one of the two documents, or of both documents about those who call a relay (`client`). */
export interface Clause {
  readonly document: 'eth-rpc' | 'relay' | 'client'
  readonly level: ClauseLevel
  /** Sections of the document, e.g. `2, 5.1`: the rule or step stands after the dot. `client` names the document too: `relay 2`. */
  readonly section: string
  /** What holds; for `unspecified`, what is asked. */
  readonly text: string
  readonly needs: readonly ClauseNeed[]
  /** Wanted only to judge the value: without it the rest of the sentence is still judged. */
  readonly needsForValue?: readonly ClauseNeed[]
  /** What holds instead in another edition of the document. */
  readonly editions?: { readonly lip?: string; readonly 'lukso-2026-02'?: string }
  /** Why no check can exist. */
  readonly untested?: string
}

type Rows = Readonly<Record<string, Omit<Clause, 'document'>>>

function ofDocument(document: Clause['document'], rows: Rows): [string, Clause][] {
  return Object.entries(rows).map(([id, row]) => [id, { document, ...row }])
}

/** Every clause by its id, in the order of the documents. */
export const clauses = Object.fromEntries([
  ...ofDocument('eth-rpc', ethRpc as Rows),
  ...ofDocument('relay', relay as Rows),
  ...ofDocument('client', client as Rows),
]) as Readonly<Record<ClauseId, Clause>>

/** A clause as a set of requirements froze it. */
export interface Requirement {
  readonly level: ClauseLevel
  /** `hashOfSentence` of the text; by edition, where an edition has a text of its own. */
  readonly sentences: Readonly<Record<string, string>>
  /** The titles of the checks that judge the clause. */
  readonly checks: readonly string[]
}

/** Clauses by their ids. */
export type RequirementSet = Readonly<Record<string, Requirement>>

const folder = new URL('./requirements/', import.meta.url)

/**
 * Every set of requirements by its name, the year and month in which it was frozen. A run that names a set judges by its
 * clauses and checks alone, so that a later version of Touchstone gives the same verdict for the same answers.
 */
export const requirementSets: Readonly<Record<string, RequirementSet>> = Object.fromEntries(
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => [
      name.slice(0, -'.json'.length),
      JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as RequirementSet,
    ]),
)

/** The set of a run that names none: the newest. */
export const currentRequirements: string = Object.keys(requirementSets).at(-1) ?? 'none'
