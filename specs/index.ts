// The documents as data. Other projects import this file of specs/ and no other one. It imports nothing but Node's own modules.
import { readFileSync } from 'node:fs'

export {
  type Clause,
  type ClauseId,
  type ClauseLevel,
  type ClauseNeed,
  clauses,
  currentRequirements,
  type Requirement,
  type RequirementSet,
  requirementSets,
} from './clauses.ts'
export { errorCatalogue, type ErrorCode, type ErrorEntry, type HttpErrorCode } from './errors.ts'
export { insteadOf } from './instead-of.ts'
export { schemas, type JsonSchema } from './schemas.ts'
export type {
  BlockParam,
  Config,
  ErrorBody,
  ExecuteRequest,
  ExecuteResponse,
  Log,
  LogFilter,
  QuotaRequest,
  QuotaResponse,
  Receipt,
  RpcMethod,
  RpcMethodParams,
  RpcMethodResult,
  Transaction,
  TransactionStatus,
} from './schemas.ts'

/** The version of Touchstone, read from the nearest package.json above this file. */
export function packageVersion(): string {
  for (let folder = new URL('./', import.meta.url); folder.pathname !== '/'; folder = new URL('../', folder)) {
    try {
      const { version } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as { version?: string }
      if (version !== undefined) return version
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return 'unknown'
}
