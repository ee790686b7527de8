/** Breaks a text at spaces so that no line is wider than `width`, each line indented; longer words stay whole. */
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
