import { Command } from 'commander'
import { spawnSync } from 'node:child_process'
import { copyFile, cp, glob, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { contractNames, loadArtifact } from '../contracts/artifacts.ts'
import { parseCommand } from './parse-command.ts'

const root = new URL('../', import.meta.url)
const inRoot = (path: string) => fileURLToPath(new URL(path, root))
const projects = ['specs', 'server', 'conformance', 'client', 'contracts', 'testbed', 'scripts'].map(inRoot)

/**
 * The command `build`: what the published package holds, in `dist/`: JavaScript, types, JSON, the migrations. The
 * compiler copies the JSON, so the contracts are compiled first. Tests are not built.
 *
 * @returns the exit code: 0 built, 1 it does not compile, 2 wrong usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  const exitCode = parseCommand(new Command('touchstone build').description('builds the package in dist/'), argv)
  if (exitCode !== undefined) return exitCode
  await Promise.all(contractNames.map(loadArtifact))
  await rm(inRoot('dist'), { recursive: true, force: true })
  const tsc = inRoot('node_modules/typescript-native/bin/tsc')
  const { status } = spawnSync(process.execPath, [tsc, '-b', '--force', ...projects], { stdio: 'inherit' })
  if (status !== 0) return 1
  for await (const file of glob(inRoot('dist/**/*.d.ts'))) await addJsonAttributes(file)
  await copyFile(inRoot('specs/openapi.yaml'), inRoot('dist/specs/openapi.yaml'))
  const migrations = 'server/services/database/migrations'
  await cp(inRoot(migrations), inRoot(`dist/${migrations}`), { recursive: true })
  return 0
}

/**
 * Writes the attribute of JSON imports into a file of declarations: the compiler leaves it out, and then refuses the import in
 * a project with `module: nodenext`.
 */
async function addJsonAttributes(file: string): Promise<void> {
  const declarations = await readFile(file, 'utf8')
  const withAttributes = declarations.replace(/^(import .* from '.*\.json');$/gm, "$1 with { type: 'json' };")
  if (withAttributes !== declarations) await writeFile(file, withAttributes)
}
