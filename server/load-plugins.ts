import { fileURLToPath } from 'node:url'

import type { LoadedConfig } from './config/load.ts'
import { createRegistry, discoverExternal, discoverFolder, type Registry } from './core/registry.ts'

/** Loads the server's own plugins, and those that the configuration names. @throws PluginError */
export async function loadPlugins({ config, baseFolder }: Omit<LoadedConfig, 'secrets'>): Promise<Registry> {
  const own = await discoverFolder(fileURLToPath(new URL('plugins/', import.meta.url)))
  const external = await discoverExternal(config.plugins.external, baseFolder)
  return createRegistry([...own, ...external], config.plugins.options)
}
