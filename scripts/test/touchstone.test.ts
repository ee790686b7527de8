import { packageVersion } from '../../specs/index.ts'
import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const words = [
  'up',
  'check',
  'doctor',
  'serve',
  'provision',
  'report',
  'clauses',
  'explain',
  'reproduce',
  'prove',
  'mutants',
  'profiles',
  'bundler',
  'sign',
  'bench',
  'simulate',
  'new',
  'test',
]

/** Options without which a command is wrong already. */
const required: Readonly<Record<string, readonly string[]>> = { provision: ['--rpc-url', 'http://127.0.0.1:9'] }

function touchstone(...args: string[]) {
  return touchstoneWith({}, ...args)
}

function touchstoneWith(environment: Readonly<Record<string, string>>, ...args: string[]) {
  const script = join(import.meta.dirname, '..', 'touchstone.ts')
  return spawnSync(process.execPath, [script, ...args], { encoding: 'utf8', env: { ...process.env, ...environment } })
}

describe('touchstone', () => {
  it('names every command in its help', () => {
    const { status, stdout } = touchstone('--help')
    expect(status).to.equal(0)
    for (const word of words) expect(stdout).to.match(new RegExp(`^ {2}${word} {2,}\\w`, 'm'))
  })

  it('answers an unknown command with one line and exit code 2', () => {
    const { status, stdout, stderr } = touchstone('chek')
    expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' })
    expect(stderr).to.include("unknown command 'chek'")
  })

  it('shows its help and exits with 2 when nothing is asked', () => {
    expect(touchstone()).to.include({ status: 2 })
  })

  /** Makes the running Node pass for another runtime. */
  const pretend = (versions: string) => ({
    NODE_OPTIONS: `--import=data:text/javascript,Object.defineProperties(process.versions,{${versions}})`,
  })

  it('runs on the oldest Node that the package asks for', () => {
    const { engines } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
      engines: { node: string }
    }
    const oldest = engines.node.replace('>=', '')
    expect(touchstoneWith(pretend(`node:{value:'${oldest}.0'}`), '--version')).to.include({ status: 0, stderr: '' })
  })

  for (const [versions, reason] of [
    ["node:{value:'20.20.2'}", 'this is Node 20.20.2'],
    ["node:{value:'22.17.1'}", 'this is Node 22.17.1'],
    ["bun:{value:'1.4.5'}", 'this is Bun 1.4.5, which has other HTTP clients'],
  ] as const) {
    it(`says in one line where it does not run: ${reason}`, () => {
      const { status, stdout, stderr } = touchstoneWith(pretend(versions), '--version')
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' })
      expect(stderr).to.equal(`touchstone needs Node 22.18 or newer: ${reason}\n`)
    })
  }

  for (const word of words) {
    it(`${word} explains itself, and refuses an option that it does not know`, () => {
      const help = touchstone(word, '--help')
      expect(help.status, help.stderr).to.equal(0)
      // One form for all, whichever library prints it; mutants is a half of prove.
      expect(help.stdout).to.match(new RegExp(`^Usage: touchstone ${word === 'mutants' ? 'prove' : word}\\b`))
      expect(touchstone(word, '--version')).to.include({ status: 0, stdout: `${packageVersion()}\n` })
      const wrong = touchstone(word, ...(required[word] ?? []), '--no-such-option')
      expect(wrong.status, wrong.stderr).to.equal(2)
      expect(wrong.stderr).to.include('--no-such-option')
    })
  }

  it('bench says in one line which option a benchmark does not have', () => {
    expect(touchstone('bench', 'quota', '--rouns', '3')).to.include({
      status: 2,
      stderr: "Unknown option '--rouns'\n",
    })
  })

  it('profiles says in one line what is wrong with the URL of the database, and quotes no password', () => {
    const environment = {
      TOUCHSTONE_CHAIN_RPC_URLS: 'http://127.0.0.1:9',
      DATABASE_URL: 'postgres://a:b#secret@host/db',
    }
    const { status, stderr } = touchstoneWith(environment, 'profiles', 'list')
    expect(status).to.equal(2)
    expect(stderr)
      .to.match(/^environment: DATABASE_URL [^\n]+\n$/)
      .and.not.include('secret')
  })
})
