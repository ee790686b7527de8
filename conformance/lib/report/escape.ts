// C0 without tab and newline, DEL, C1, the marks that reorder text, and the characters that break lines or have no
// width.
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/**
 * Writes control characters as `\u001b`. Otherwise a body could rewrite the screen of a terminal, or a page could
 * show another text than the one received.
 */
export function visibleControls(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const mostLines = 20
const longestLine = 300

/** Texts that quote strangers as a list for a terminal, a line each; of a long list, the beginning and how many follow. */
export function lineList(texts: readonly string[]): string {
  const lines = texts
    .slice(0, mostLines)
    .map((text) => visibleControls(text).replaceAll('\n', ' ').slice(0, longestLine))
  const more = texts.length > mostLines ? [`and ${texts.length - mostLines} more`] : []
  return [...lines, ...more].map((line) => `  ${line}\n`).join('')
}

const htmlEntities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/**
 * Makes a text safe as HTML content and as a quoted attribute value. Reports show answers of unknown servers, so
 * every text passes through this function.
 */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => htmlEntities[character] ?? character)
}

/**
 * Makes a text safe as inline Markdown of GitHub, also in a table cell: no markup, no HTML, no mention, on one line.
 */
export function escapeMarkdown(text: string): string {
  return escapeHtml(visibleControls(text))
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_{}[\]|~]/g, '\\$&')
    .replace(/^([#+-])/, '\\$1')
    .replaceAll('@', '&#64;')
    .trim()
}

/** A fenced Markdown block around a text. The fence is longer than any run of backticks in the text. */
export function markdownFence(text: string, language = ''): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${visibleControls(text)}\n${fence}`
}

// XML 1.0 cannot hold these characters, not even as references: https://www.w3.org/TR/xml/#charsets
const notXml =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

const xmlReferences: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\r': '&#13;',
}

/**
 * Makes a text safe as XML 1.0 content. A character that XML cannot hold is written as `\u0007`, so that the report
 * is well-formed whatever the target answers.
 */
export function escapeXml(text: string): string {
  return text
    .replace(notXml, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/[&<>"'\r]/g, (character) => xmlReferences[character] ?? character)
}

/** Makes a text safe as an XML attribute, in which a parser would turn tabs and line breaks into spaces. */
export function escapeXmlAttribute(text: string): string {
  return escapeXml(text).replaceAll('\t', '&#9;').replaceAll('\n', '&#10;')
}
