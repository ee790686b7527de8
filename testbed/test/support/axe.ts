import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

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
