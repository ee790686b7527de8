import { createHash } from 'node:crypto'
import { Markup, markup } from './markup.ts'
import { style } from './style.ts'

export interface PageParts {
  readonly title: string
  readonly body: Markup
  readonly script: string
}

function sourceHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

/**
 * A whole HTML document that needs nothing from anywhere: style and script are inside, and the policy allows these two
 * by their hash and no request at all.
 */
export function htmlPage({ title, body, script }: PageParts): string {
  const policy = [
    "default-src 'none'",
    `style-src ${sourceHash(style)}`,
    `script-src ${sourceHash(script)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${new Markup(style)}</style>
</head>
<body>
${body}
<script>${new Markup(script)}</script>
</body>
</html>
`
  return page.html
}
