import { InvalidArgumentError } from 'commander'

/** Parses a TCP port of a command line; 0 is any free one. */
export function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65535) throw new InvalidArgumentError('a port is a number from 0 to 65535.')
  return port
}

/** Parses seconds of a command line, fractions allowed. */
export function parseSeconds(text: string): number {
  const seconds = Number(text)
  if (!(seconds > 0 && seconds <= 86_400)) throw new InvalidArgumentError('seconds are a number above 0.')
  return seconds
}
