import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { TEST_MNEMONIC } from '../../../contracts/hardhat.ts'
import { unusedPort } from '../../processes.ts'

/** Starts anvil on a free port; its accounts are Hardhat's. */
export async function startAnvil(...args: string[]): Promise<{ rpcUrl: string; close(): Promise<void> }> {
  const script = join(import.meta.dirname, '../../../node_modules/@foundry-rs/anvil/bin.mjs')
  // It would write the states of old blocks to the home folder, and leave them there.
  const options = ['--port', '0', '--max-persisted-states', '0', ...args]
  const child = spawn(process.execPath, [script, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const close = async () => {
    child.kill()
    await exited
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /Listening on (\S+)/.exec(line)?.[1]
    if (address === undefined) continue
    // Read on, so that its output does not fill the pipe.
    child.stdout.resume()
    return { rpcUrl: `http://${address}`, close }
  }
  throw new Error('anvil ended before it listened')
}

/** Starts ganache on a free port; its accounts are Hardhat's. */
export async function startGanache(): Promise<{ rpcUrl: string; close(): Promise<void> }> {
  const script = join(import.meta.dirname, '../../../node_modules/ganache/dist/node/cli.js')
  // It refuses port 0.
  const port = String(await unusedPort())
  const options = ['--server.port', port, '--wallet.mnemonic', TEST_MNEMONIC, '--logging.quiet', 'false']
  const child = spawn(process.execPath, [script, ...options], { stdio: ['ignore', 'pipe', 'ignore'] })
  const exited = once(child, 'exit')
  const close = async () => {
    child.kill()
    await exited
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /^RPC Listening on (\S+)/.exec(line)?.[1]
    if (address === undefined) continue
    // Read on, so that its output does not fill the pipe.
    child.stdout.resume()
    return { rpcUrl: `http://${address}`, close }
  }
  throw new Error('ganache ended before it listened')
}
