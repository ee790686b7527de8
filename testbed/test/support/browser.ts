import { existsSync } from 'node:fs'
import { mkdtemp, rm, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type BrowserContext, type Page } from 'playwright-core'
import { createRequire } from 'node:module'
import { skip } from './skip.ts'

export interface Browser {
  readonly context: BrowserContext
  close(): Promise<void>
}

/** Where Chromium, Chrome and Edge are installed, on Linux, macOS and Windows. */
const usualPaths = [
  ...['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge'].flatMap((name) => [
    `/usr/bin/${name}`,
    `/snap/bin/${name}`,
  ]),
  ...['Chromium', 'Google Chrome', 'Microsoft Edge'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`),
  ...['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'].flatMap((variable) =>
    ['Google/Chrome/Application/chrome.exe', 'Microsoft/Edge/Application/msedge.exe'].map((path) =>
      join(process.env[variable] ?? '', path),
    ),
  ),
]
const executablePath = process.env['CHROMIUM_PATH'] ?? usualPaths.find((path) => existsSync(path))
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
 * Starts Chromium, or what is built of it, with a profile of its own. `CHROMIUM_PATH` names another one than the first
 * that is found.
 *
 * @param hook skipped on a machine without a browser, which still runs the other tests; CI installs one, and must not
 *   pass without it
 * @throws Error in CI: no browser is installed
 */
export async function launchBrowser(hook: Mocha.Context): Promise<Browser> {
  if (executablePath === undefined) {
    skip(hook, 'no Chromium, Chrome or Edge is installed; CHROMIUM_PATH names one')
  }
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

interface AxeResults {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
}

const script = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * What axe finds wrong with a page for people who use it by keyboard, screen reader or with little contrast: in light and
 * in dark, on a desktop and on a telephone.
 *
 * @returns one line for each kind of fault; empty when there is none
 */
export async function axeViolations(page: Page): Promise<string[]> {
  const found = new Set<string>()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const width of [1200, 390]) {
      await page.setViewportSize({ width, height: 900 })
      await page.evaluate(await script)
      const { violations } = (await page.evaluate('axe.run()')) as AxeResults
      for (const { id, nodes } of violations) found.add(`${id} (${colorScheme}, ${width} px): ${nodes[0]?.html}`)
    }
  }
  return [...found]
}
