import { expect } from 'chai'
import { ServiceError } from '../../../core/errors.ts'
import type { RelayCall } from '../../../core/define.ts'
import type { ChannelState, PendingCall } from '../../../services/ledger/lookup.ts'
import { Channel, type WaitingCall } from '../../../services/relayer/channel.ts'
import { simulateNext } from '../../../services/relayer/simulate-next.ts'
import type { ChannelResult, ChannelRun } from '../../../services/simulator/simulator.ts'

const profile = '0x1111111111111111111111111111111111111111'
const keyManager = '0x2222222222222222222222222222222222222222'
const signer = '0x3333333333333333333333333333333333333333'
const account = '0x4444444444444444444444444444444444444444'
const key = { keyManager, signer, channel: 0n }

/** The call data tells the nonce, as far as the fake simulator is concerned. */
const callDataOf = (nonce: bigint) => `0x${nonce.toString(16).padStart(4, '0')}`

/** A chain and a ledger that know one channel. */
class World {
  /** The channel's next nonce on the chain. */
  chainNonce = 0n
  /** Nonces of calls that are stored and not mined. */
  pending: bigint[] = []
  /** Hashes of calls that were taken before, by identity. */
  readonly known = new Map<string, string>()
  readonly dispatched: { readonly nonces: readonly bigint[]; readonly account: string | undefined }[] = []
  readonly runs: ChannelRun[] = []
  /** Runs once, between the look into the ledger and the next simulation. */
  meanwhile: (() => void) | undefined
  isEmpty = false
  /** Is set back by an hour whenever somebody looks. */
  calendarMs = Date.UTC(2026, 0)

  /** How long a call waits for its predecessor. */
  patienceMs = 0
  /** The most calls that the ledger stores at once. */
  mostStored = Infinity

  private readonly clock = { nowMs: () => (this.calendarMs -= 3_600_000), monotonicMs: () => performance.now() }

  readonly channel = new Channel({
    key,
    clock: this.clock,
    lookUp: async ({ from }) => this.lookUp(from),
    turn: (channel) => this.takeTurn(channel),
    onEmpty: () => (this.isEmpty = true),
  })

  /** @returns the hash that the caller of a call with this nonce is given */
  ask(nonce: bigint): Promise<string> {
    const call: RelayCall = {
      profile,
      keyManager,
      signer,
      nonce,
      validityTimestamps: 0n,
      payload: '0x',
      callData: callDataOf(nonce),
      nonceCallData: '0x',
      misreadings: () => [],
    }
    return new Promise((resolve, reject) => {
      const admission = { gasCap: 10_000_000n, code: null }
      const deadlineMs = this.clock.monotonicMs() + this.patienceMs
      this.channel.add({ call, identity: `call ${nonce}`, admission, deadlineMs, resolve, reject })
    })
  }

  private lookUp(from: bigint): ChannelState {
    const pending = this.pending
      .filter((nonce) => nonce >= from)
      .map((nonce): PendingCall => ({ nonce, callData: callDataOf(nonce), account }))
    return { pending, known: this.known }
  }

  private simulate(run: ChannelRun): ChannelResult {
    this.runs.push(run)
    const { meanwhile } = this
    this.meanwhile = undefined
    meanwhile?.()
    let next = this.chainNonce
    for (const callData of run.pending) if (callData === callDataOf(next)) next++
    const calls = run.calls.map(({ nonce }): ChannelResult['calls'][number] => {
      if (nonce === next++) return { kind: 'succeeds', gas: 100_000n }
      return { kind: 'reverts', reason: { name: 'InvalidRelayNonce', args: {}, data: '0x' } }
    })
    return { nonce: this.chainNonce, parties: { owner: keyManager, target: profile }, calls }
  }

  private async takeTurn(channel: Channel): Promise<void> {
    const run = await simulateNext(channel, {
      simulator: { simulate: async (tried) => this.simulate(tried) },
      profiles: { permissions: async () => [] },
      turnBeganMs: this.clock.monotonicMs(),
    })
    if (run) this.store(run.calls.slice(0, this.mostStored), run.account)
  }

  private store(calls: readonly WaitingCall[], required: string | undefined): void {
    this.dispatched.push({ nonces: calls.map(({ call }) => call.nonce), account: required })
    this.channel.release(calls)
    for (const { call, identity, resolve } of calls) {
      this.pending.push(call.nonce)
      resolve(`hash of ${identity}`)
    }
  }
}

const codeOf = (answer: Promise<unknown>) =>
  answer.then(
    () => 'answered',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  )

describe('a channel', () => {
  it('tries a call, has it stored, and tells when nobody waits any more', async () => {
    const world = new World()
    expect(await world.ask(0n)).to.equal('hash of call 0')
    expect(world.dispatched).to.deep.equal([{ nonces: [0n], account: undefined }])
    await new Promise((resolve) => setImmediate(resolve))
    expect(world.isEmpty).to.equal(true)
  })

  it('takes calls in the order of their nonces, whatever the order in which they come', async () => {
    const world = new World()
    world.patienceMs = 1_000
    const answers = await Promise.all([2n, 0n, 1n].map((nonce) => world.ask(nonce)))
    expect(answers).to.deep.equal(['hash of call 2', 'hash of call 0', 'hash of call 1'])
    expect(world.dispatched.flatMap(({ nonces }) => nonces)).to.deep.equal([0n, 1n, 2n])
  })

  it('tries a call on top of those that are pending, by the account that sends them', async () => {
    const world = new World()
    world.pending = [0n, 1n]
    expect(await world.ask(2n)).to.equal('hash of call 2')
    expect(world.runs.at(-1)?.pending).to.deep.equal([callDataOf(0n), callDataOf(1n)])
    expect(world.dispatched).to.deep.equal([{ nonces: [2n], account }])
  })

  it('asks nobody while a call waits for its predecessor, and goes on when it comes', async () => {
    const world = new World()
    world.patienceMs = 600_000
    const later = world.ask(1n)
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(world.runs).to.have.length(1)
    expect(await Promise.all([world.ask(0n), later])).to.deep.equal(['hash of call 0', 'hash of call 1'])
  })

  it('refuses a call whose predecessor does not come, one whose nonce is used, and one whose nonce is promised', async () => {
    const world = new World()
    world.chainNonce = 5n
    world.pending = [5n, 6n]
    expect(await codeOf(world.ask(8n))).to.equal('NONCE_GAP')
    expect(await codeOf(world.ask(4n))).to.equal('NONCE_USED')
    expect(await codeOf(world.ask(6n))).to.equal('NONCE_CONFLICT')
    expect(world.dispatched).to.deep.equal([])
  })

  it('answers a call that was taken before with its hash, though its nonce is promised', async () => {
    const world = new World()
    world.pending = [0n]
    world.known.set('call 0', '0xbefore')
    // The turn finds it when it looks for what is pending, since the call behind it cannot be tried alone.
    expect(await Promise.all([world.ask(1n), world.ask(0n)])).to.deep.equal(['hash of call 1', '0xbefore'])
  })

  it('takes no more than 128 that are pending', async () => {
    const world = new World()
    world.pending = Array.from({ length: 128 }, (_, nonce) => BigInt(nonce))
    expect(await codeOf(world.ask(128n))).to.equal('RATE_LIMITED')
  })

  it('takes a call although a reorganisation takes back its predecessors while it is tried', async () => {
    const world = new World()
    world.chainNonce = 5n
    world.pending = [5n]
    // By the second simulation: the first one finds that calls before this one are pending.
    world.meanwhile = () => {
      world.meanwhile = () => {
        world.chainNonce = 3n
        world.pending = [3n, 4n, 5n]
      }
    }
    expect(await world.ask(6n)).to.equal('hash of call 6')
    expect(world.runs.at(-1)?.pending).to.deep.equal([3n, 4n, 5n].map(callDataOf))
  })

  it('tries those again whose predecessor could not be stored', async () => {
    const world = new World()
    world.patienceMs = 1_000
    world.mostStored = 1
    expect(await Promise.all([world.ask(0n), world.ask(1n)])).to.deep.equal(['hash of call 0', 'hash of call 1'])
    expect(world.pending).to.deep.equal([0n, 1n])
  })
})
