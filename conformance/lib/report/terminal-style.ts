import { styleText } from 'node:util'
import { statusSign, type ShownStatus } from './words.ts'

/** What a reporter needs of `process.stdout`. */
export interface TextStream {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

type Format = Parameters<typeof styleText>[0]

/** Colours a text, or returns it as it is. */
export type Paint = (format: Format, text: string) => string

/**
 * Whether to use colours: only on a terminal, and not when its user has declined them.
 *
 * @see https://no-color.org
 */
export function wantsColour(stream: TextStream, env: Readonly<Record<string, string | undefined>>): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}

export function painter(colour: boolean): Paint {
  return (format, text) => (colour ? styleText(format, text, { validateStream: false }) : text)
}

const statusFormat: Readonly<Record<ShownStatus, Format>> = {
  passed: 'green',
  failed: 'red',
  known: 'magenta',
  untestable: 'yellow',
  observed: 'cyan',
}

/** The sign of a status in its colour. */
export function paintedSign(status: ShownStatus, paint: Paint): string {
  return paint(statusFormat[status], statusSign[status])
}
