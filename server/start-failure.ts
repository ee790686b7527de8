import { ConfigError } from './config/config-error.ts'
import { ServiceError } from './core/errors.ts'
import { PluginError } from './core/plugin-error.ts'
import { FolderLockedError } from './services/database/folder-lock.ts'
import { LedgerMismatchError } from './services/ledger/opening.ts'
import { PlanError } from './services/quotas/plans.ts'

const mendable = [ConfigError, PluginError, PlanError, FolderLockedError, LedgerMismatchError, ServiceError]

/**
 * What the person who starts the server can mend: configuration, plugins, ports, the database, the node.
 *
 * @returns one line for each fault; undefined for a fault of our own
 */
export function startFailure(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (mendable.some((kind) => error instanceof kind)) return error.message
  const code = 'code' in error ? error.code : undefined
  switch (code) {
    case 'EADDRINUSE':
    case 'EACCES':
    case 'EADDRNOTAVAIL':
      return `cannot listen: ${error.message}`
    // The node's are ServiceErrors.
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'ETIMEDOUT':
      return `DATABASE_URL: the database cannot be reached (${code})`
    default:
      return undefined
  }
}
