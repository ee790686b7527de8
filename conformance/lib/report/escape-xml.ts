// XML 1.0 has no way to write these, not even as a character reference: https://www.w3.org/TR/xml/#charsets
const notXml =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

const references: Record<string, string> = {
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
    .replace(/[&<>"'\r]/g, (character) => references[character] ?? character)
}

/** The same for an attribute, where a parser would turn tabs and line breaks into spaces. */
export function escapeXmlAttribute(text: string): string {
  return escapeXml(text).replaceAll('\t', '&#9;').replaceAll('\n', '&#10;')
}
