import { execFile } from 'node:child_process'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../../..')
const execute = promisify(execFile)

/** This Node comes first, for npm and for the `touchstone` binary, whose shebang asks the PATH. */
const env = { ...process.env, PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) }

/** Runs a program to its end. Does not throw when it fails. */
export async function runIn(cwd: string, program: string, args: readonly string[]) {
  try {
    return { code: 0, ...(await execute(program, args, { cwd, env })) }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, stdout, stderr }
  }
}

/** A copy of the repository as git would commit it, on the same dependencies. */
export async function copyRepository(folder: string): Promise<void> {
  const listed = await runIn(root, 'git', ['ls-files', '--cached', '--others', '--exclude-standard'])
  const files = listed.stdout.split('\n').filter((file) => file !== '')
  await Promise.all(
    files.map(async (file) => {
      const target = join(folder, file)
      await mkdir(dirname(target), { recursive: true })
      await cp(join(root, file), target).catch((error: NodeJS.ErrnoException) => {
        // Removed from the working tree, not yet from git.
        if (error.code !== 'ENOENT') throw error
      })
    }),
  )
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
}
