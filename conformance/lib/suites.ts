import { readdir } from 'node:fs/promises'
import { clauses, type ClauseId } from '../../specs/index.ts'
import type { ClauseSuite } from './clause.ts'

const folder = new URL('../suites/', import.meta.url)
const order = Object.keys(clauses)

/**
 * The checks of every clause, from each `suites/<folder>/<id>.conformance.ts`, in the order of the documents. Several
 * files may hold checks of one clause.
 */
export async function loadSuites(): Promise<ClauseSuite[]> {
  const paths = (await readdir(folder, { recursive: true }))
    .filter((path) => /\.conformance\.(ts|js)$/.test(path))
    .sort()
  const byId = new Map<ClauseId, ClauseSuite>()
  for (const path of paths) {
    const module = (await import(new URL(path, folder).href)) as { default: readonly ClauseSuite[] }
    for (const { id, checks } of module.default) {
      byId.set(id, { id, checks: [...(byId.get(id)?.checks ?? []), ...checks] })
    }
  }
  return [...byId.values()].sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id))
}

/** Whether `--only` means this clause: it names ids, or what they begin with, separated by commas. */
export function isSelected(id: string, only: string | null): boolean {
  return only === null || only.split(',').some((name) => id.startsWith(name.replace(/\*$/, '')))
}
