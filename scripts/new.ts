import { Command } from 'commander'
import { parseCommand } from './parse-command.ts'
import type { PluginKind } from '../server/core/define.ts'
import { type Scaffold, writeScaffold } from './new/scaffold.ts'
import { UsageError } from '../conformance/lib/outcome.ts'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

type Kind = PluginKind | 'suite'

/** What a name must look like, as in `specs/schemas/plugin/<kind>.json` and `specs/schemas/suite.json`, and in words. */
const kinds: Readonly<Record<Kind, { name: RegExp; like: string }>> = {
  'rpc-method': { name: /^[a-z][A-Za-z0-9]*_[A-Za-z0-9_]+$/, like: 'eth_feeHistory' },
  relay: { name: /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/, like: 'lsp26' },
  quota: { name: /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/, like: 'weekly-calls' },
  suite: { name: /^(?!(?:eth-rpc|relay|client)$)[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/, like: 'acme' },
}

interface Flags {
  readonly params?: string
}

/**
 * The command `new`: begins a plugin or a suite in this repository, with all that belongs to it. What it writes runs as it is.
 *
 * @returns the exit code: 0 written, 2 wrong usage or a file that exists
 */
export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command('touchstone new')
    .description(
      'Begins a plugin, or a suite of your own, in this repository: new rpc-method eth_feeHistory, new relay lsp26, new quota weekly, new suite acme',
    )
    .argument('<kind>', Object.keys(kinds).join(', '))
    .argument('<name>', "the method's name, the plugin's id, or the prefix of the suite's clauses")
    .option(
      '--params <json>',
      'of a call that the node serves: the example and the form of an rpc method (default: [])',
    )
  const exitCode = parseCommand(command, argv)
  if (exitCode !== undefined) return exitCode
  const [kind = '', name = ''] = command.args
  const scaffold = await scaffoldOf(kind, name, command.opts<Flags>())
  const taken = [...scaffold.files.keys()].filter((path) => existsSync(`${root}${path}`))
  if (taken.length > 0) throw new UsageError(`new: ${taken.join(', ')} is there already: nothing was written`)
  const { written, changed } = await writeScaffold(root, scaffold)
  for (const path of written) console.log(`written  ${path}`)
  for (const path of changed) console.log(`changed  ${path}`)
  console.log('\nNext:')
  for (const step of scaffold.next) console.log(`- ${step}`)
  return 0
}

async function scaffoldOf(kind: string, name: string, { params }: Flags): Promise<Scaffold> {
  const form = Object.hasOwn(kinds, kind) ? kinds[kind as Kind] : undefined
  if (!form) throw new UsageError(`new: '${kind}' is none of ${Object.keys(kinds).join(', ')}`)
  if (!form.name.test(name)) throw new UsageError(`new: '${name}' is no name of a ${kind}, as ${form.like} is one`)
  if (params !== undefined && kind !== 'rpc-method') throw new UsageError('new: --params is for an rpc-method')
  switch (kind as Kind) {
    case 'rpc-method':
      return (await import('./new/plugin.ts')).rpcMethodScaffold(
        name,
        params === undefined ? undefined : parseParams(params),
      )
    case 'relay':
      return (await import('./new/plugin.ts')).relayScaffold(name)
    case 'quota':
      return (await import('./new/plugin.ts')).quotaScaffold(name)
    case 'suite':
      return (await import('./new/suite.ts')).suiteScaffold(name)
  }
}

function parseParams(text: string): readonly unknown[] {
  try {
    const params: unknown = JSON.parse(text)
    if (Array.isArray(params)) return params
  } catch {
    // The edits are printed below.
  }
  throw new UsageError(`new: --params is no JSON array: ${text}`)
}
