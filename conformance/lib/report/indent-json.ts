const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * Lays JSON text out over lines without reading its values, so that a 256-bit integer or a doubled member is shown as
 * it was on the wire. Text that is no JSON comes back as it is.
 */
export function indentJson(text: string): string {
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  const out: string[] = []
  let depth = 0
  let previous = ''
  const newline = () => out.push('\n', '  '.repeat(depth))
  for (const [token] of text.matchAll(tokens)) {
    if (token === '}' || token === ']') {
      depth -= 1
      if (previous !== '{' && previous !== '[') newline()
    } else if (previous === '{' || previous === '[' || previous === ',') {
      newline()
    }
    out.push(token)
    if (token === '{' || token === '[') depth += 1
    if (token === ':') out.push(' ')
    previous = token
  }
  return out.join('')
}
