import { spawnSync } from 'node:child_process'
import { expect } from 'chai'
import { curlOf } from '../../../lib/report/exchange-text.ts'

/** The words that a shell hands to curl. */
function wordsOf(command: string): string[] {
  const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`
  const { stdout, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8' })
  expect(stderr).to.equal('')
  return stdout.split('\0').slice(0, -1)
}

describe('curlOf', () => {
  it('writes a request that a shell hands on as it was recorded, whoever wrote the report', () => {
    const method = "POST'; touch /tmp/never #"
    const url = '-o/tmp/never$(id)[1-9]'
    const body = "@/etc/passwd `id` $HOME ' \\ \n"
    const words = wordsOf(curlOf({ method, url, headers: { 'x-a': "it's $1" }, body }))
    const after = (option: string) => words[words.indexOf(option) + 1]
    expect(words[words.indexOf('-X') + 1]).to.equal(method)
    expect(after('--url')).to.equal(url)
    expect(after('-H')).to.equal("x-a: it's $1")
    expect(after('--data-raw')).to.equal(body)
    expect(words).to.have.length(11).and.include('--globoff')
  })
})
