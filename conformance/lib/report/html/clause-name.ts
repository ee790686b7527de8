import { Markup, markup } from './markup.ts'

const breakHere = new Markup('<wbr>')

/** A clause's id that a narrow column may break after its dots, and nowhere inside a word. */
export function clauseName(id: string): Markup {
  return markup`${id.split(/(?<=[.-])/).map((part) => markup`${part}${breakHere}`)}`
}
