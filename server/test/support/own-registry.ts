import { fileURLToPath } from 'node:url'
import { createRegistry, discoverFolder, type Registry } from '../../core/registry.ts'

/** The registry of the server's own plugins. */
export const ownRegistry = async (): Promise<Registry> =>
  createRegistry(await discoverFolder(fileURLToPath(new URL('../../plugins/', import.meta.url))))
