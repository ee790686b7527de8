// C0 without tab and newline, DEL, C1, the marks that reorder text, and those that break lines or take no room.
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/**
 * Shows control characters as `\u001b` instead of obeying them: with them a body could rewrite a terminal's screen, or
 * make a page show another text than the one received.
 */
export function visibleControls(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const htmlEntities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/**
 * Makes any text safe as HTML element content and as a quoted attribute value. Reports show what strangers'
 * servers answered, so everything that is not markup of ours passes through here.
 */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => htmlEntities[character] ?? character)
}

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

/** A fenced Markdown block around any text; the fence is longer than any run of backticks inside. */
export function markdownFence(text: string, language = ''): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${visibleControls(text)}\n${fence}`
}

// XML 1.0 has no way to write these, not even as a character reference: https://www.w3.org/TR/xml/#charsets
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
 * Makes any text safe as XML 1.0 content. Characters that XML cannot hold are
 * shown as `\u0007`, so that a report of a target that sends control characters is still well-formed.
 */
export function escapeXml(text: string): string {
  return text
    .replace(notXml, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/[&<>"'\r]/g, (character) => xmlReferences[character] ?? character)
}

/** The same for an attribute, where a parser would turn tabs and line breaks into spaces. */
export function escapeXmlAttribute(text: string): string {
  return escapeXml(text).replaceAll('\t', '&#9;').replaceAll('\n', '&#10;')
}
