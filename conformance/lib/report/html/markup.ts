import { escapeHtml, visibleControls } from '../escape.ts'

/** HTML that is safe, since {@link markup} made it. */
export class Markup {
  readonly html: string

  constructor(html: string) {
    this.html = html
  }
}

export type MarkupValue = string | number | Markup | readonly Markup[] | undefined

function rendered(value: MarkupValue): string {
  if (value === undefined) return ''
  if (value instanceof Markup) return value.html
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(visibleControls(String(value)))
  return value.map((part) => part.html).join('')
}

/** A template for HTML. It escapes every value but those that it made itself. */
export function markup(strings: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  return new Markup(
    strings.map((part, index) => part + (index < values.length ? rendered(values[index]) : '')).join(''),
  )
}
