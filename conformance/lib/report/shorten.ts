/**
 * Keeps the head and the tail of a long text and says how much is left out between them.
 *
 * @param limit characters to keep, at least 2
 */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text
  const head = Math.ceil((limit * 3) / 4)
  const tail = limit - head
  return `${text.slice(0, head)} … ${text.length - limit} characters left out … ${text.slice(text.length - tail)}`
}
