import { readFileSync } from 'node:fs'

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
