import { ConfigError, ServiceError, OperatorError, PluginError } from './core/errors.ts'

const mendable = [ConfigError, PluginError, OperatorError, ServiceError]

/**
 * What the person who starts the server can mend: configuration, plugins, ports, the database, the node.
 *
 * @returns one line for each fault; undefined for a fault of our own
 */
export function startFailure(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (mendable.some((kind) => error instanceof kind)) return error.message
  const code = 'code' in error ? String(error.code) : ''
  switch (code) {
    case 'EADDRINUSE':
    case 'EACCES':
    case 'EADDRNOTAVAIL':
      return `cannot listen: ${error.message}`
    // The node's are ServiceErrors.
    case 'ECONNREFUSED':
    case 'ECONNRESET':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'ETIMEDOUT':
      return `DATABASE_URL: the database cannot be reached (${code})`
    default:
      // What PostgreSQL says by itself: no such database, wrong password, read-only, full.
      return 'severity' in error ? `the database refuses: ${error.message} (${code})` : undefined
  }
}
