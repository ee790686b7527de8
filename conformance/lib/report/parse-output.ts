import { UsageError } from '../usage-error.ts'

/** One `--report format=path`; the path `-` is standard output. */
export interface Output<Format extends string> {
  readonly format: Format
  readonly path: string
}

/**
 * Reads `format=path`.
 *
 * @throws UsageError for an unknown format or a missing path
 */
export function parseOutput<Format extends string>(
  argument: string,
  formats: readonly Format[],
  option = '--report',
): Output<Format> {
  const [, name, path] = /^([^=]*)=(.+)$/s.exec(argument) ?? []
  const format = formats.find((known) => known === name)
  if (format === undefined || path === undefined) {
    throw new UsageError(`${option} takes ${formats.map((known) => `${known}=<file>`).join(', ')}; not "${argument}"`)
  }
  return { format, path }
}
