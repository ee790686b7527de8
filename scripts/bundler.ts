import { Command, CommanderError } from 'commander'
import { Wallet } from 'ethers'
import { deployBundler } from '../contracts/deploy/bundler.ts'
import { createSender } from '../contracts/deploy/sender.ts'
import { UsageError } from '../conformance/lib/outcome.ts'
import { connect, parseKey, reasonOf } from './funder.ts'

interface Flags {
  readonly rpcUrl: string
  readonly funderKey?: string
}

/**
 * The command `bundler`: deploys the contract with which the reference server puts several relay calls into one
 * transaction, and prints its address.
 *
 * @returns the exit code: 0 done, 2 wrong usage, an unreachable node, no funds
 */
export async function run(argv: readonly string[]): Promise<number> {
  const program = new Command('touchstone bundler')
    .description('The contract with which the reference server puts several relay calls into one transaction.')
    .exitOverride()
  program
    .command('deploy')
    .description('deploys it on any chain, and prints the address for relay.bundle.contract')
    .requiredOption('--rpc-url <url>', "the chain's node")
    .option('--funder-key <key>', 'private key of the account that pays; better in the environment as FUNDER_KEY')
    .action((flags: Flags) => deploy(flags, process.env['FUNDER_KEY']))
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n`)
    return 2
  }
}

/** @throws UsageError */
async function deploy(flags: Flags, environmentKey: string | undefined): Promise<void> {
  const privateKey = parseKey(flags.funderKey ?? environmentKey)
  const provider = await connect(flags.rpcUrl)
  try {
    const address = await deployBundler(await createSender(new Wallet(privateKey, provider)))
    process.stdout.write(`${address}\n`)
  } catch (error) {
    throw new UsageError(`the contract is not deployed: ${reasonOf(error)}`, { cause: error })
  } finally {
    provider.destroy()
  }
}
