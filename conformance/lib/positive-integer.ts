import { InvalidArgumentError } from 'commander'

/** Parses a count of a command line. @throws InvalidArgumentError */
export function parsePositiveInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('a whole number above zero is expected')
  return value
}
