/** A duration for a reader: `340 ms`, `4.2 s`. */
export function seconds(durationMs: number): string {
  return durationMs < 1000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1000).toFixed(1)} s`
}

/**
 * Keeps the head and the tail of a long text, and says how many characters are left out.
 *
 * @param limit characters to keep, at least 2
 */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text
  const head = Math.ceil((limit * 3) / 4)
  const tail = limit - head
  return `${text.slice(0, head)} … ${text.length - limit} characters left out … ${text.slice(text.length - tail)}`
}

/** Breaks a text at spaces so that no line is wider than `width`, and indents each line. A longer word stays whole. */
export function wrap(text: string, width: number, indent: string): string {
  return text
    .split('\n')
    .map((line) => {
      const lines: string[] = []
      let current = ''
      for (const word of line.split(' ')) {
        if (current !== '' && indent.length + current.length + 1 + word.length > width) {
          lines.push(current)
          current = word
        } else {
          current = current === '' ? word : `${current} ${word}`
        }
      }
      lines.push(current)
      return lines.map((part) => indent + part).join('\n')
    })
    .join('\n')
}

const jsonTokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * Lays JSON text out over lines without reading its values: a 256-bit integer or a doubled member stays as it was
 * sent. A text that is no JSON is returned as it is.
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
  for (const [token] of text.matchAll(jsonTokens)) {
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
