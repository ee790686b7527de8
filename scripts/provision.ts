import { Command, CommanderError } from 'commander'
import { formatEther, Wallet, type JsonRpcProvider } from 'ethers'
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { provisionFixture, type Fixture, type ProvisionState } from '../contracts/deploy/fixture.ts'
import { writePrivateJson } from '../testbed/fixture.ts'
import { UsageError } from '../conformance/lib/outcome.ts'
import { connect, parseKey, reasonOf } from './funder.ts'

interface Flags {
  readonly rpcUrl: string
  readonly funderKey?: string
  readonly fixture: string
  readonly relayUrl: string
  readonly ethRpcUrl?: string
  readonly pause?: true
}

/** Native coin of the profile, enough for relayed transfers of a few wei. */
const PROFILE_FUNDS_WEI = 10n ** 15n

/** The funds that the whole command takes, rounded up. */
const NEEDED_GAS = 28_000_000n

/**
 * The command `provision`: prepares any chain for the conformance suite and writes the fixture. It notes each finished step
 * beside the fixture, so that the same command goes on after an interruption.
 *
 * @returns the exit code: 0 done, 2 wrong usage, an unreachable node, no funds
 */
export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command('touchstone provision')
    .description(
      'Deploys a profile, its key manager, three controllers and log emitters on any chain, and writes the fixture.',
    )
    .requiredOption('--rpc-url <url>', "the chain's node")
    .option('--funder-key <key>', 'private key of the account that pays; better in the environment as FUNDER_KEY')
    .option('--fixture <file>', 'to write', '.touchstone/fixture.json')
    .option('--relay-url <url>', 'of the relay that will be checked', 'http://127.0.0.1:3000')
    .option('--eth-rpc-url <url>', "base of POST /api/eth-rpc, where it is not the relay's")
    .option('--pause', 'stop before the end, to register the profile with the relay')
    .exitOverride()
  try {
    command.parse([...argv], { from: 'user' })
    await provision(command.opts<Flags>(), process.env['FUNDER_KEY'])
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof UsageError)) throw error
    say(error.message)
    return 2
  }
}

async function provision(flags: Flags, environmentKey: string | undefined): Promise<void> {
  if (existsSync(flags.fixture)) {
    throw new UsageError(`${flags.fixture} exists and holds the keys of a profile: name another file with --fixture`)
  }
  const privateKey = parseKey(flags.funderKey ?? environmentKey)
  const provider = await connect(flags.rpcUrl)
  const funder = new Wallet(privateKey, provider)
  const stateFile = `${flags.fixture}.partial`
  const state = await readState(stateFile)
  if (!state.profile || !state.logs) await requireFunds(provider, funder.address)
  try {
    const fixture = await deployAll(funder, flags, state, stateFile)
    if (flags.pause && !(await confirmRegistration(fixture))) {
      say(`${stateFile} keeps what is done: the same command without --pause writes the fixture`)
      return
    }
    await writePrivateJson(flags.fixture, fixture)
    await rm(stateFile, { force: true })
    say(`fixture written; it holds private keys, keep it to yourself: ${flags.fixture}`)
  } finally {
    provider.destroy()
  }
}

async function deployAll(funder: Wallet, flags: Flags, state: ProvisionState, stateFile: string): Promise<Fixture> {
  // The writes run one after the other, because each writes the whole state.
  let saving = Promise.resolve()
  const save = () => (saving = saving.then(() => writePrivateJson(stateFile, state)))
  try {
    return await provisionFixture(funder, {
      rpcUrl: flags.rpcUrl,
      relayUrl: flags.relayUrl,
      ethRpcBaseUrl: flags.ethRpcUrl ?? flags.relayUrl,
      profileFundsWei: PROFILE_FUNDS_WEI,
      state,
      onProgress: (done) => {
        say(done)
        void save()
      },
    })
  } catch (error) {
    throw new UsageError(`${reasonOf(error)}; the same command again goes on from here`, { cause: error })
  } finally {
    await save()
  }
}

async function requireFunds(provider: JsonRpcProvider, address: string): Promise<void> {
  const asked = Promise.all([provider.getBalance(address), provider.getFeeData()])
  const [balance, { gasPrice }] = await asked.catch((cause: unknown) => {
    throw new UsageError(`the node does not tell what ${address} holds, or what gas costs: ${reasonOf(cause)}`, {
      cause,
    })
  })
  const needed = NEEDED_GAS * (gasPrice ?? 0n) + PROFILE_FUNDS_WEI
  if (balance >= needed) return
  throw new UsageError(
    `${address} holds ${formatEther(balance)}, and about ${formatEther(needed)} are needed on this chain`,
  )
}

async function readState(file: string): Promise<ProvisionState> {
  if (!existsSync(file)) return {}
  say(`going on with ${file}`)
  return JSON.parse(await readFile(file, 'utf8')) as ProvisionState
}

/** @returns false when no terminal is there to confirm at */
async function confirmRegistration({ profile, controllers }: Fixture): Promise<boolean> {
  say('')
  say('Register this with the relay, if it asks for registration:')
  say(`  profile      ${profile.address}`)
  say(`  key manager  ${profile.keyManager}`)
  for (const [name, { address }] of Object.entries(controllers)) say(`  ${name.padEnd(11)}  ${address}`)
  say('Then press Enter.')
  const lines = createInterface({ input: process.stdin })
  const answered = await Promise.race([once(lines, 'line').then(() => true), once(lines, 'close').then(() => false)])
  lines.close()
  return answered
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
