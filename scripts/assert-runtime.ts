/**
 * Ends the command where it cannot work. The first import of `touchstone.ts`: what other modules import from Node is
 * missing in older ones, and a missing name is no message for a user.
 */
const reason = unfitFor(process.versions)
if (reason !== undefined) {
  process.stderr.write(`touchstone needs Node 22.18 or newer: ${reason}\n`)
  process.exit(2)
}

function unfitFor({ node, bun }: NodeJS.ProcessVersions): string | undefined {
  if (bun !== undefined) return `this is Bun ${bun}, which has other HTTP clients`
  const [major = 0, minor = 0] = node.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 18) ? undefined : `this is Node ${node}`
}
