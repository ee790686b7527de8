import { Command } from 'commander'
import { parseCommand } from './parse-command.ts'
import { spawn, spawnSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { contractNames, loadArtifact } from '../contracts/artifacts.ts'
import { changedTests } from './changed-tests.ts'
import type { TestCounts } from './test-reporter.ts'

const root = join(import.meta.dirname, '..')

/** Checks beside the tests. Each counts as one test. */
const checks: readonly { name: string; script: string; args: readonly string[] }[] = [
  { name: 'types', script: 'typescript-native/bin/tsc', args: ['-b'] },
  { name: 'lint', script: 'oxlint/bin/oxlint', args: [] },
  { name: 'format', script: 'oxfmt/bin/oxfmt', args: ['--check', '.'] },
  { name: 'unused files, exports and packages', script: 'knip/bin/knip.js', args: [] },
]

/**
 * Flags of V8 for every process of the tests. NODE_OPTIONS does not take them.
 * - Most of the processes live for seconds, and the embedded database is WebAssembly: optimizing it takes longer than it is
 *   then used. Without it, a process that starts a server takes two fifths less CPU. `--liftoff-only`, which implies both,
 *   implies nothing once Node runs.
 * - The memory of a WebAssembly module would let V8 collect all garbage whenever a database is opened. V8 knows the flag
 *   since version 13, that of Node 24, and complains before that.
 */
const V8_FLAGS = [
  '--no-wasm-tier-up',
  '--no-wasm-dynamic-tiering',
  ...(Number.parseInt(process.versions.v8, 10) >= 13 ? ['--external-memory-accounted-in-global-limit'] : []),
]

/** Sets them when a process starts. */
const SET_V8_FLAGS = `--import=data:text/javascript,import{setFlagsFromString}from'node:v8';${V8_FLAGS.map((flag) => `setFlagsFromString('${flag}')`).join(';')}`

/**
 * How large, in MB, the heaps of mocha and its workers grow before they collect garbage, which takes a quarter of their
 * CPU otherwise: all together to a fifth of the memory.
 */
const INITIAL_HEAP = `--initial-heap-size=${Math.round(totalmem() / 2 ** 20 / 25)}`

/**
 * Programs print the same on every machine, and the tests read it: in no colours, which a workflow may ask for, and without
 * the warning that a locale, which ssh has handed on, is not installed.
 */
const SAME_OUTPUT = { LC_ALL: 'C', FORCE_COLOR: undefined }

/** A file system in memory, where there is one: a new file costs a fiftieth of the system time that it costs on a disk. */
const MEMORY = '/dev/shm'

/** Room for what the tests write at the same time. A container has 64 MB there, unless it is told otherwise. */
const MEMORY_BYTES = 4 * 2 ** 30

/** Options for single files. Without files, `.mocharc.json` says what is run and how. */
const fileOptions = ['--no-config', '--timeout', '300000']

/**
 * The command `test`: types, lint, format and what is unused, then all tests; or, with files, the tests of these alone;
 * or, with --changed, those that changes can touch.
 * The last line says `N passed, N failed`.
 *
 * @returns the exit code: 0 all passed, 1 something failed, 2 wrong usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command('touchstone test')
    .description('types, lint, format, and all tests; with files, these tests alone')
    .argument('[files...]', 'test files')
    .option('-g, --grep <pattern>', 'only tests whose title matches')
    .option('-b, --bail', 'stop at the first failure')
    .option(
      '--changed [commit]',
      'types, lint, format, and the tests that changes since a commit can touch (default: HEAD)',
    )
  const exitCode = parseCommand(command, argv)
  if (exitCode !== undefined) return exitCode
  const { grep, bail, changed } = command.opts<{ grep?: string; bail?: true; changed?: string | true }>()
  const mochaArgs = [...(grep === undefined ? [] : ['--grep', grep]), ...(bail ? ['--bail'] : [])]
  const files = changed === undefined ? command.args : await touchedBy(changed === true ? 'HEAD' : changed)
  if (files === undefined) return 2
  const isWhole = files.length === 0 && changed === undefined
  const results = [
    ...((isWhole || changed !== undefined) && grep === undefined ? await runChecks() : []),
    ...(files.length > 0 || isWhole
      ? [await (isWhole ? runAll(mochaArgs) : runMocha([...fileOptions, ...mochaArgs, ...files]))]
      : []),
  ]
  const passed = results.reduce((sum, result) => sum + result.passed, 0)
  const failed = results.reduce((sum, result) => sum + result.failed, 0)
  console.log(`${passed} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

/**
 * The test files that changes since a commit can touch, with those that are not committed and the new ones.
 *
 * @returns undefined, and the reason is told, when git cannot compare with it
 */
async function touchedBy(commit: string): Promise<readonly string[] | undefined> {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  const lines = (text: string) => text.split('\n').filter((line) => line !== '')
  const compared = git('diff', '--name-only', '--relative', commit, '--')
  if (compared.status !== 0) {
    process.stderr.write(`--changed: git cannot compare with '${commit}': ${compared.stderr.split('\n')[0]}\n`)
    return undefined
  }
  const fresh = lines(git('ls-files', '--others', '--exclude-standard').stdout)
  const files = [...lines(git('ls-files').stdout), ...fresh]
  const { tests, everything } = await changedTests(root, files, [...lines(compared.stdout), ...fresh])
  if (everything !== undefined) {
    console.log(`${everything} has changed, which every test may depend on`)
    return files.filter((file) => file.endsWith('.test.ts'))
  }
  console.log(`${tests.length} test files can be touched by the changes`)
  return tests.filter((file) => files.includes(file))
}

async function runChecks(): Promise<TestCounts[]> {
  return Promise.all(
    checks.map(async ({ name, script, args }) => {
      const start = performance.now()
      const { code, output } = await runScript(script, args)
      const seconds = ((performance.now() - start) / 1000).toFixed(1)
      console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`)
      if (code !== 0) console.log(output)
      return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
    }),
  )
}

/** All tests. On a clean clone, each of the processes that begin at once would make the embedded database that is kept. */
async function runAll(mochaArgs: readonly string[]): Promise<TestCounts> {
  const { keepNewDatabase } = await import('../server/services/database/pglite.ts')
  await keepNewDatabase()
  return runMocha(mochaArgs)
}

async function runMocha(args: readonly string[]): Promise<TestCounts> {
  // The contracts are compiled here once, so that not every test process compiles them.
  await Promise.all(contractNames.map(loadArtifact))
  const folder = await temporaryFolder()
  try {
    const counts = join(folder, 'counts.json')
    const reporter = [
      '--reporter',
      join(import.meta.dirname, 'test-reporter.ts'),
      '--reporter-option',
      `counts=${counts}`,
    ]
    // Where this user is root, PostgreSQL runs as another one, and reads what is written for it.
    process.umask(0o022)
    const { NODE_OPTIONS = '' } = process.env
    const environment = {
      ...SAME_OUTPUT,
      NODE_OPTIONS: `${NODE_OPTIONS} ${SET_V8_FLAGS}`.trim(),
      TMPDIR: folder,
    }
    const handOn = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
    const options = { output: 'inherit', environment, flags: [INITIAL_HEAP], handOn } as const
    const { code } = await runScript('mocha/bin/mocha.js', [...reporter, ...args], options)
    const counted = await readFile(counts, 'utf8').then(
      (json) => JSON.parse(json) as TestCounts,
      () => undefined,
    )
    // A file that cannot be loaded, or a signal, ends mocha before it counts anything.
    if (!counted) return { passed: 0, failed: 1 }
    return { ...counted, failed: code === 0 ? counted.failed : Math.max(counted.failed, 1) }
  } finally {
    // After an interruption, programs that the tests have started may still write.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** The folder for all that the tests write: in memory, if there is room and programs may run from there. */
async function temporaryFolder(): Promise<string> {
  const mounts = await readFile('/proc/mounts', 'utf8').catch(() => '')
  const runsPrograms = mounts.split('\n').some((mount) => mount.includes(` ${MEMORY} `) && !mount.includes('noexec'))
  const { bavail, bsize } = runsPrograms ? await statfs(MEMORY) : { bavail: 0, bsize: 0 }
  const isChosen = process.env['TMPDIR'] !== undefined
  const parent = !isChosen && bavail * bsize >= MEMORY_BYTES ? MEMORY : tmpdir()
  const folder = await mkdtemp(join(parent, 'touchstone-test-'))
  // PostgreSQL runs as another user where this one is root.
  await chmod(folder, 0o1777)
  return folder
}

/**
 * Runs a package's script with this Node. Output is gathered, unless it is inherited.
 *
 * @param options.handOn signals that end the script, and not this process, which has something to do after it
 */
async function runScript(
  script: string,
  args: readonly string[],
  {
    output = 'pipe',
    environment,
    flags = [],
    handOn = [],
  }: {
    output?: 'pipe' | 'inherit'
    environment?: NodeJS.ProcessEnv
    flags?: readonly string[]
    handOn?: readonly NodeJS.Signals[]
  } = {},
) {
  const child = spawn(process.execPath, [...flags, join(root, 'node_modules', script), ...args], {
    cwd: root,
    stdio: ['ignore', output, output],
    env: { ...process.env, ...environment },
  })
  const kill = (signal: NodeJS.Signals) => child.kill(signal)
  for (const signal of handOn) process.on(signal, kill)
  const exit = new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
  const texts = [child.stdout, child.stderr].map((stream) => (stream ? text(stream) : ''))
  const [code, ...outputs] = await Promise.all([exit, ...texts])
  for (const signal of handOn) process.off(signal, kill)
  return { code, output: outputs.join('') }
}
