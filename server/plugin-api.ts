/**
 * What plugins of other packages import, as `touchstone/plugin`: the three definitions, the errors that reach a caller,
 * and the types of the services that a plugin names in `needs`.
 */
export { defineQuota, defineRelay, defineRpcMethod } from './core/define.ts'
export type {
  JsonSchema,
  Plugin,
  PluginKind,
  Quota,
  QuotaAccount,
  QuotaPlugin,
  RelayCall,
  RelayPlugin,
  RelayRequest,
  ResolvedProfile,
  RpcMethodPlugin,
  ServiceName,
  Services,
} from './core/define.ts'
export { ServiceError, type ServiceErrorOptions } from './core/errors.ts'
export type { ClauseId, ErrorCode } from '../specs/index.ts'

// Each file adds its service to `Services`.
export type { Chain } from './services/chain/chain.ts'
export type { Upstream } from './services/node/upstream.ts'
export type { Clock } from './services/clock.ts'
export type { Profiles } from './services/profiles/profiles.ts'
export type { Quotas, Relayer, Relays } from './services/relay-services.ts'
