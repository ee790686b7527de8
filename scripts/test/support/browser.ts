import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type BrowserContext } from 'playwright-core'

export interface Browser {
  readonly context: BrowserContext
  close(): Promise<void>
}

/** Where Debian puts it. */
const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'
const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * Starts Chromium with a profile of its own.
 *
 * @param hook skipped on a machine without a browser, which still runs the other tests; CI installs one, and must not
 *   pass without it
 */
export async function launchBrowser(hook: Mocha.Context): Promise<Browser> {
  if (!existsSync(executablePath) && !process.env['CI']) hook.skip()
  const profile = await mkdtemp(join(tmpdir(), 'touchstone-browser-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args,
    // A page that brings its own script must work under its own policy.
    bypassCSP: false,
  })
  return {
    context,
    close: async () => {
      await context.close()
      await rm(profile, { recursive: true, force: true })
    },
  }
}
