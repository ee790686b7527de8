#!/usr/bin/env node
// Runs `scripts/touchstone.ts` from a bare clone: under a Node that is new enough, with what the lock file asks for.
// Plain JavaScript without dependencies, because an old Node reads it before anything is installed.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** Holds the path of the Node that was fetched. Gone with node_modules, as it should be. */
const rememberedRuntime = join(root, 'node_modules', '.cache', 'touchstone-node')
/** What Node has compiled, for every process that is started from here: it halves the time that one takes to start. */
const compileCache = join(root, 'node_modules', '.cache', 'touchstone-compiled')
/**
 * What every process that is started from here finds in its environment. With large pages, the C library needs a third
 * of the page faults: a server on a new database starts with a third less CPU. Other libraries do not read it.
 */
const environment = { NODE_COMPILE_CACHE: compileCache, GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1' }
const installLock = join(root, '.touchstone', 'install.lock')

/** What an old Node is replaced by: an exact version, so that nobody can put another one under it. */
const NODE_VERSION = '24.21.0'

const say = (line) => process.stderr.write(`touchstone: ${line}\n`)
const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)

/** Node 22.18 is the first that runs TypeScript and is kept; Node 23 is not kept. The tests are written for Node 24. */
function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  return major >= 24 || (major === 22 && minor >= 18 && process.argv[2] !== 'test')
}

function chooseRuntime() {
  if (isNewEnough(process.versions.node)) return process.execPath
  const remembered = read(rememberedRuntime)
  if (remembered && existsSync(remembered)) return remembered
  say(`this is Node ${process.versions.node}; taking Node ${NODE_VERSION} from the npm registry`)
  const npx = [findNpm(), 'exec', '--yes', `--package=node@${NODE_VERSION}`, '--', 'node', '-p', 'process.execPath']
  const { status, stdout } = spawnSync(process.execPath, npx, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const runtime = stdout.trim().split('\n').pop()
  if (status !== 0 || !existsSync(runtime)) throw new Error('no Node 24 to be had: install Node 22.18 or newer')
  return runtime
}

/** npm's own JavaScript file: it must run under the chosen Node, not under the one that `npm` on the PATH starts. */
function findNpm() {
  const beside = dirname(process.execPath)
  const onPath = (process.env.PATH || '').split(delimiter).map((folder) => join(folder, 'npm'))
  const found = [
    process.env.npm_execpath,
    join(beside, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    join(beside, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    ...onPath.filter(existsSync).map((path) => realpathSync(path)),
  ].find((path) => path && path.endsWith('npm-cli.js') && existsSync(path))
  if (!found) throw new Error('npm is not found: install it beside Node')
  return found
}

/** Whether node_modules holds what the lock file names. */
function isInstalled() {
  const present = JSON.parse(read(join(root, 'node_modules', '.package-lock.json')) || '{}').packages || {}
  const wanted = JSON.parse(read(join(root, 'package-lock.json'))).packages
  const complete = Object.entries(wanted).every(
    ([path, { version, optional }]) => path === '' || optional || (present[path] || {}).version === version,
  )
  // npm under an old Node silently leaves out Hardhat's native package, because it is optional.
  const scope = join(root, 'node_modules', '@nomicfoundation')
  return complete && existsSync(scope) && readdirSync(scope).some((name) => name.startsWith('edr-'))
}

/**
 * Names of the installed packages whose scripts may run: they lay the links that the libraries of PostgreSQL need. npm 12
 * reads the same list.
 */
function installedWithScripts() {
  const present = JSON.parse(read(join(root, 'node_modules', '.package-lock.json')) || '{}').packages || {}
  const { allowScripts } = JSON.parse(read(join(root, 'package.json')))
  return Object.keys(allowScripts).filter((name) => `node_modules/${name}` in present)
}

async function install(runtime) {
  while (!isInstalled()) {
    if (!takeLock()) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      continue
    }
    say('installing what package-lock.json names')
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
    // What npm prints is no output of the command that was asked for.
    const npm = (...args) => run(runtime, [findNpm(), ...args, ...quiet], ['ignore', 2, 2])
    let status = await npm('ci', '--include=dev', '--ignore-scripts')
    const allowed = status === 0 ? installedWithScripts() : []
    if (allowed.length > 0) status = await npm('rebuild', '--ignore-scripts=false', ...allowed)
    rmSync(installLock, { force: true })
    if (status !== 0) process.exit(status)
    if (!isInstalled()) throw new Error('npm ci left something out: see above')
  }
  if (!isNewEnough(process.versions.node) && read(rememberedRuntime) !== runtime) {
    mkdirSync(dirname(rememberedRuntime), { recursive: true })
    writeFileSync(rememberedRuntime, runtime)
  }
}

/** Two launches at once must not both write node_modules. The lock of a process that is gone does not count. */
function takeLock() {
  mkdirSync(dirname(installLock), { recursive: true })
  try {
    writeFileSync(installLock, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    const holder = Number(read(installLock))
    try {
      if (holder) process.kill(holder, 0)
    } catch (gone) {
      if (gone.code === 'ESRCH') rmSync(installLock, { force: true })
    }
    return false
  }
}

/** Runs Node, hands each signal on once, and resolves with the exit code. */
function run(runtime, args, stdio, environment = {}) {
  // First on the PATH, so that whatever starts `node` gets the same one.
  const env = { ...environment, ...process.env, PATH: [dirname(runtime), process.env.PATH].join(delimiter) }
  const child = spawn(runtime, args, { cwd: root, stdio, env })
  const handedOn = new Set()
  const handOn = (signal) => {
    // What stops a process is often sent to it and to its whole group; a second one would cut short what the first began.
    if (!handedOn.has(signal)) child.kill(signal)
    handedOn.add(signal)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  signals.forEach((signal) => process.on(signal, handOn))
  // npm hands SIGTERM to its shell, which dies of it and hands nothing on.
  const parent = process.ppid
  const lookForParent = () => process.ppid !== parent && handedOn.size === 0 && handOn('SIGTERM')
  const watch = process.env.npm_lifecycle_event ? setInterval(lookForParent, 500) : undefined
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      signals.forEach((name) => process.off(name, handOn))
      clearInterval(watch)
      resolve(signal ? 128 + constants.signals[signal] : code)
    })
  })
}

async function main() {
  const runtime = chooseRuntime()
  await install(runtime)
  const args = [join(root, 'scripts', 'touchstone.ts'), ...process.argv.slice(2)]
  return run(runtime, args, 'inherit', environment)
}

main().then(
  (code) => (process.exitCode = code),
  (error) => {
    say(error.message)
    process.exitCode = 2
  },
)
