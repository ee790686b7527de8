/** HTML that needs no escaping. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (character) => entities[character] ?? character)

type Part = string | number | Markup | readonly Part[]

const written = (part: Part): string => {
  if (part instanceof Markup) return part.text
  return typeof part === 'object' ? part.map(written).join('') : escapeHtml(String(part))
}

/** A template for HTML: every inserted value is escaped, unless it is `Markup`. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(
    texts.map((text, index) => text + (index < parts.length ? written(parts[index] ?? '') : '')).join(''),
  )
}

/** A table with a head; a caption stands above it. */
export function htmlTable(
  heads: readonly string[],
  rows: readonly (readonly (string | Markup)[])[],
  caption = '',
): Markup {
  const head = heads.map((name) => html`<th scope="col">${name}</th>`)
  const body = rows.map(
    (row) =>
      html`<tr>
        ${row.map((cell) => html`<td>${cell}</td>`)}
      </tr> `,
  )
  return html`<table>
    ${
      caption &&
      html`<caption>
        ${caption}
      </caption>`
    }
    <thead>
      <tr>
        ${head}
      </tr>
    </thead>
    <tbody>
      ${body}
    </tbody>
  </table>`
}

/** Without it, a browser asks for `/favicon.ico`. A page needs `img-src data:` in its policy for it. */
export const noIcon = new Markup('<link rel="icon" href="data:," />')

/** A whole page in the look of this server; `style` comes after the common one. */
export function htmlPage(title: string, body: Markup, { style = '', scripts = [] as readonly string[] } = {}): string {
  const loaded = scripts.map((path) => html`<script src="${path}" defer></script> `)
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${noIcon}
        <style>
          ${new Markup(commonStyle + style)}
        </style>
        ${loaded}
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html> `.text
}

const commonStyle = `
:root { color-scheme: light dark; --line: #8884; --good: light-dark(#0a6b34, #5fd08b); --poor: light-dark(#8a5300, #f0b35a); --bad: light-dark(#b3261e, #ff9c94) }
body { margin: 0; font: 1rem/1.55 system-ui, sans-serif; color: light-dark(#1b1b1f, #e6e6ea); background: light-dark(#fff, #141417) }
a { color: light-dark(#0b57d0, #8ab4f8) }
main { max-width: 44rem; margin: 0 auto; padding: 2rem 1.25rem }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 } h2 { font-size: 1.125rem; margin: 2rem 0 .25rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); overflow-wrap: break-word }
th { font-weight: 600 }
`
