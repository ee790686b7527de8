import type { Report, Verdict } from '../report-types.ts'
import { escapeXml, visibleControls } from './escape.ts'
import { verdictWord } from './words.ts'

const label = 'LSP15 relay'

/** White text has the contrast of WCAG AA on each of these colours. */
const colours: Readonly<Record<Verdict, string>> = {
  conformant: '#1a7f37',
  passed: '#1a7f37',
  nonconformant: '#cf222e',
  partial: '#8a5a00',
  error: '#57606a',
}

/** `conformant, 55 of 55`: the verdict, and how many of the required clauses that ran passed. */
function messageOf({ verdict, summary }: Report): string {
  const { passed, failed, untestable } = summary.required
  const word = verdictWord[verdict].toLowerCase()
  return verdict === 'error' ? word : `${word}, ${passed} of ${passed + failed + untestable}`
}

/** The average width of a letter in px at 11 px. The text is stretched to the width that this gives. */
const letterPx = 6.2
const widthOf = (text: string): number => Math.round(text.length * letterPx) + 12

/** The badge as an SVG image, which loads no font and no other file. */
function svg(report: Report): string {
  const message = messageOf(report)
  const [left, right] = [widthOf(label), widthOf(message)]
  const title = escapeXml(visibleControls(`${label}: ${message}`))
  const text = (content: string, x: number, width: number): string =>
    `<text x="${x + 6}" y="14" textLength="${width - 12}" lengthAdjust="spacingAndGlyphs">${escapeXml(content)}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${title}">
<title>${title}</title>
<clipPath id="r"><rect width="${left + right}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="${left}" height="20" fill="#444c56"/><rect x="${left}" width="${right}" height="20" fill="${colours[report.verdict]}"/></g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${text(label, 0, left)}${text(message, left, right)}</g>
</svg>
`
}

/** The JSON that https://shields.io/badges/endpoint-badge reads from a URL. */
function shields(report: Report): string {
  const badge = { schemaVersion: 1, label, message: messageOf(report), color: colours[report.verdict] }
  return `${JSON.stringify({ ...badge, isError: report.verdict === 'error' }, null, 2)}\n`
}

/** The formats of `--badge <format>=<file>` and their renderers. */
export const badgeRenderers = { svg, shields } as const satisfies Record<string, (report: Report) => string>

export type BadgeFormat = keyof typeof badgeRenderers

export const badgeFormats = Object.keys(badgeRenderers) as readonly BadgeFormat[]
