import { markup, type Markup } from './markup.ts'

/** What the texts have in common before and after the part that differs is shown to this length, in characters. */
const contextLimit = 240
const differingLimit = 1500

const wordsOf = (text: string): string[] => text.split(/(?<=\s)|(?=\s)|(?<=[",:;{}[\]()])/)

/** How many words all texts begin with. */
function commonStart(texts: readonly (readonly string[])[]): number {
  const [first = [], ...others] = texts
  const until = first.findIndex((word, index) => others.some((words) => words[index] !== word))
  return until < 0 ? first.length : until
}

const cutStart = (text: string): string => (text.length > contextLimit ? `… ${text.slice(-contextLimit)}` : text)
const cutEnd = (text: string, limit: number): string => (text.length > limit ? `${text.slice(0, limit)} …` : text)

/**
 * Texts side by side, each with the part marked in which it differs from the others. A text that says nothing is left out of
 * the comparison.
 *
 * @returns a Markup for each text, in their order
 */
export function markDiffering(texts: readonly string[]): Markup[] {
  const said = texts.filter((text) => text !== '').map(wordsOf)
  if (new Set(texts.filter((text) => text !== '')).size < 2) {
    return texts.map((text) => markup`${cutEnd(text, differingLimit)}`)
  }
  const start = commonStart(said)
  const end = commonStart(said.map((words) => words.slice(start).reverse()))
  return texts.map((text) => {
    if (text === '') return markup``
    const words = wordsOf(text)
    const part = words.slice(start, words.length - end).join('')
    const mark = part === '' ? undefined : markup`<mark>${cutEnd(part, differingLimit)}</mark>`
    const after = cutEnd(words.slice(words.length - end).join(''), contextLimit)
    return markup`${cutStart(words.slice(0, start).join(''))}${mark}${after}`
  })
}
