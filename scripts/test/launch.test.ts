import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** Stands in for npm, whose registry no test may need: `ci` installs what the lock file names, `exec` finds a Node. */
const npmCli = `
import { appendFileSync, copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
const [command, ...rest] = process.argv.slice(2)
const names = command === 'rebuild' ? rest.filter((argument) => !argument.startsWith('--')) : []
appendFileSync('npm-calls', [command, ...names].join(' ') + '\\n')
if (command === 'exec') console.log(process.execPath)
if (command === 'ci') {
  if (existsSync('node_modules/busy')) throw new Error('two installations at once')
  mkdirSync('node_modules/busy', { recursive: true })
  await new Promise((resolve) => setTimeout(resolve, 100))
  rmSync('node_modules', { recursive: true, force: true })
  if (existsSync('npm-fails')) process.exit(7)
  mkdirSync('node_modules/@nomicfoundation/edr-here', { recursive: true })
  copyFileSync('package-lock.json', 'node_modules/.package-lock.json')
}
`

/** Stands in for the dispatcher. */
const touchstone = `
const [word, ...rest] = process.argv.slice(2)
if (word === 'echo') console.log(JSON.stringify(rest))
if (word === 'cache') console.log(process.env.NODE_COMPILE_CACHE)
if (word === 'exit') process.exit(Number(rest[0]))
if (word === 'wait') {
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { console.log(signal); process.exit(0) })
  setInterval(() => undefined, 1000)
  console.log('ready ' + process.pid)
}
if (word === 'linger') {
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {
    console.log(signal)
    setTimeout(() => process.exit(0), 1500)
  })
  setInterval(() => undefined, 1000)
  console.log('ready ' + process.pid)
}
`

const lockFile = (version: string) =>
  JSON.stringify({
    packages: { '': {}, 'node_modules/a': { version }, 'node_modules/o': { version, optional: true } },
  })

/** Makes the running Node pass for another. */
const pretendNode = (version: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,Object.defineProperty(process.versions,'node',{value:'${version}'})`,
})

describe('launch', () => {
  let root: string

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'touchstone-launch-'))
    await mkdir(join(root, 'scripts'))
    await cp(join(import.meta.dirname, '..', 'launch.mjs'), join(root, 'scripts', 'launch.mjs'))
    await writeFile(join(root, 'scripts', 'touchstone.ts'), touchstone)
    await writeFile(
      join(root, 'package.json'),
      '{ "type": "module", "allowScripts": { "a": true, "elsewhere": true } }',
    )
    await writeFile(join(root, 'npm-cli.js'), npmCli)
    await writeFile(join(root, 'package-lock.json'), lockFile('1.0.0'))
  })

  afterEach(() => rm(root, { recursive: true, force: true }))

  function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    return spawn(process.execPath, [join(root, 'scripts', 'launch.mjs'), ...args], {
      env: { ...process.env, npm_execpath: join(root, 'npm-cli.js'), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  async function launch(args: readonly string[], env?: NodeJS.ProcessEnv) {
    const child = start(args, env)
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout!),
      text(child.stderr!),
      once(child, 'exit') as Promise<[number]>,
    ])
    return { stdout, stderr, code }
  }

  const npmCalls = () => readFile(join(root, 'npm-calls'), 'utf8').catch(() => '')

  it('installs once, and hands on arguments and exit code', async () => {
    const first = await launch(['echo', '--a', 'b c'])
    expect(first).to.include({ code: 0, stdout: '["--a","b c"]\n' })
    const second = await launch(['exit', '3'])
    expect(second).to.include({ code: 3, stderr: '' })
    expect(await npmCalls()).to.equal('ci\nrebuild a\n')
  })

  it('has what Node compiles kept for the next start, unless that is arranged already', async () => {
    const { stdout } = await launch(['cache'], { NODE_COMPILE_CACHE: undefined })
    expect(stdout).to.equal(`${join(root, 'node_modules', '.cache', 'touchstone-compiled')}\n`)
    expect(await launch(['cache'], { NODE_COMPILE_CACHE: root })).to.include({ stdout: `${root}\n` })
  })

  it('runs the scripts of those packages that package.json allows and that are installed here, and of no others', async () => {
    await launch(['echo'])
    expect(await npmCalls()).to.equal('ci\nrebuild a\n')
  })

  it('installs again when the lock file names another version', async () => {
    await launch(['echo'])
    await writeFile(join(root, 'package-lock.json'), lockFile('1.0.1'))
    expect(await launch(['echo'])).to.include({ code: 0 })
    expect(await npmCalls()).to.equal('ci\nrebuild a\nci\nrebuild a\n')
  })

  it('does not miss a package that is optional', async () => {
    await launch(['echo'])
    await writeFile(
      join(root, 'node_modules', '.package-lock.json'),
      JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } }),
    )
    await launch(['echo'])
    expect(await npmCalls()).to.equal('ci\nrebuild a\n')
  })

  it('installs again what an old npm left incomplete', async () => {
    await launch(['echo'])
    await rm(join(root, 'node_modules', '@nomicfoundation', 'edr-here'), { recursive: true })
    expect(await launch(['echo'])).to.include({ code: 0 })
    expect(await npmCalls()).to.equal('ci\nrebuild a\nci\nrebuild a\n')
  })

  it('lets one of several launches install, and the others wait', async () => {
    const launched = await Promise.all(['1', '2', '3'].map((name) => launch(['echo', name])))
    expect(launched.map(({ code, stdout }) => [code, stdout])).to.deep.equal([
      [0, '["1"]\n'],
      [0, '["2"]\n'],
      [0, '["3"]\n'],
    ])
    expect(await npmCalls()).to.equal('ci\nrebuild a\n')
  })

  it('takes over the lock of a launch that was killed', async () => {
    const gone = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
    await once(gone, 'exit')
    await mkdir(join(root, '.touchstone'))
    await writeFile(join(root, '.touchstone', 'install.lock'), String(gone.pid))
    expect(await launch(['echo'])).to.include({ code: 0 })
  })

  it('ends with the exit code of npm when it cannot install, and leaves no lock', async () => {
    await writeFile(join(root, 'npm-fails'), '')
    expect(await launch(['echo'])).to.include({ code: 7, stdout: '' })
    await rm(join(root, 'npm-fails'))
    expect(await launch(['echo'])).to.include({ code: 0 })
  })

  for (const old of ['20.20.2', '23.11.0']) {
    it(`on Node ${old} fetches another Node, once`, async () => {
      expect(await launch(['echo'], pretendNode(old))).to.include({ code: 0, stdout: '[]\n' })
      expect(await launch(['echo'], pretendNode(old))).to.include({ code: 0, stderr: '' })
      expect(await npmCalls()).to.equal('exec\nci\nrebuild a\n')
    })
  }

  for (const recent of ['22.18.0', '26.1.0']) {
    it(`on Node ${recent} fetches none`, async () => {
      await launch(['echo'], pretendNode(recent))
      expect(await npmCalls()).to.equal('ci\nrebuild a\n')
    })
  }

  it('on Node 22 fetches another for the tests alone', async () => {
    await launch(['echo'], pretendNode('22.23.0'))
    expect(await launch(['test'], pretendNode('22.23.0'))).to.include({ code: 0 })
    expect(await npmCalls()).to.equal('ci\nrebuild a\nexec\n')
    await launch(['test'], pretendNode('22.23.0'))
    expect(await npmCalls(), 'it is kept').to.equal('ci\nrebuild a\nexec\n')
  })

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`hands ${signal} on, and waits for the end`, async () => {
      const child = start(['wait'])
      let output = ''
      child.stdout!.on('data', (chunk: Buffer) => {
        output += chunk.toString()
        if (output.endsWith('\n') && output.startsWith('ready') && !child.killed) child.kill(signal)
      })
      const [code] = (await once(child, 'exit')) as [number]
      expect(code).to.equal(0)
      expect(output).to.match(new RegExp(`${signal}\n$`))
      const pid = Number(/ready (\d+)/.exec(output)?.[1])
      expect(() => process.kill(pid, 0))
        .to.throw()
        .with.property('code', 'ESRCH')
    })
  }

  it('hands a signal on once, however often it comes', async () => {
    const child = start(['linger'], { npm_lifecycle_event: 'start' })
    let output = ''
    for await (const chunk of child.stdout!) {
      output += String(chunk)
      if (/^ready \d+\n(SIGTERM\n)?$/.test(output)) child.kill('SIGTERM')
    }
    expect(output).to.match(/^ready \d+\nSIGTERM\n$/)
  })

  it('stops when npm, which started it, is gone, and says so once', async () => {
    // npm's part: a shell between, that dies of a signal.
    const shell = `process.stdin.resume(); require('node:child_process').spawn(process.execPath, ${JSON.stringify([
      join(root, 'scripts', 'launch.mjs'),
      'linger',
    ])}, { stdio: 'inherit' })`
    const child = spawn(process.execPath, ['--input-type=commonjs', '--eval', shell], {
      env: { ...process.env, npm_execpath: join(root, 'npm-cli.js'), npm_lifecycle_event: 'start' },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    let output = ''
    for await (const chunk of child.stdout) {
      output += String(chunk)
      if (output.startsWith('ready') && !child.killed) child.kill('SIGKILL')
    }
    // The pipe ends when the last process that holds it is gone.
    expect(output).to.match(/^ready \d+\nSIGTERM\n$/)
  })
})
