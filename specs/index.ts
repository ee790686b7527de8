/** The only door to the documents as data. Imports nothing but Node's own modules. */
export { clauses, type Clause, type ClauseId, type ClauseLevel, type ClauseNeed } from './clauses.ts'
export { errorCatalogue, type ErrorCode, type ErrorEntry, type HttpErrorCode } from './errors.ts'
export { currentRequirements, type Requirement, type RequirementSet, requirementSets } from './requirements.ts'
export { schemas, type JsonSchema } from './schemas.ts'
export { packageVersion } from './version.ts'
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
} from './types.ts'
