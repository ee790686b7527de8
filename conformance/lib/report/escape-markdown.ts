import { escapeHtml } from './escape-html.ts'
import { visibleControls } from './visible-controls.ts'

/**
 * Makes any text safe as inline Markdown (GitHub's flavour), also inside a table cell: no markup, no HTML, no
 * mention, and on one line.
 */
export function escapeMarkdown(text: string): string {
  return escapeHtml(visibleControls(text))
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_{}[\]|~]/g, '\\$&')
    .replace(/^([#+-])/, '\\$1')
    .replaceAll('@', '&#64;')
    .trim()
}
