import { clauses } from '../../../specs/index.ts'
import type { ClientClause } from '../context.ts'
import conduct from './conduct.ts'
import ethRpc from './eth-rpc.ts'
import execute from './execute.ts'
import quota from './quota.ts'

const order = Object.keys(clauses)

/** The checks of all clauses about clients, in the order of the catalogue. */
export const clientClauses: readonly ClientClause[] = [...execute, ...conduct, ...quota, ...ethRpc].sort(
  (a, b) => order.indexOf(a.id) - order.indexOf(b.id),
)
