import { driftOf, STRANGER, type Block, type SimulatedChain, type Transaction } from './chain.ts'
import type { Cluster } from './cluster.ts'
import { controllers, profilesOf, signerAddresses } from './callers.ts'
import type { OwnerChange } from './contracts.ts'
import { permissionBits } from '../../server/ethereum/contracts.ts'
import { CLEAR_LINE, type Line } from './network.ts'
import type { SimulatedNode } from './node.ts'
import type { Operator } from './operator.ts'
import { type Fault, type Plan } from './plan.ts'
import type { Random } from './random.ts'
import type { SimulatedServer } from './server.ts'
import type { WorldTime } from './world-time.ts'

export interface WeatherOptions {
  readonly time: WorldTime
  readonly random: Random
  readonly plan: Plan
  readonly chain: SimulatedChain
  readonly nodes: readonly SimulatedNode[]
  readonly servers: readonly SimulatedServer[]
  readonly cluster: Cluster
  readonly operator: Operator
}

/** The balance of an account, usually and while it is poor. */
export const RICH_WEI = 10n ** 20n
const POOR_WEI = 10n ** 13n

/** Makes blocks and the planned faults. */
export class Weather {
  readonly #options: WeatherOptions
  readonly #lines = new Map<number, Line>()
  readonly #lagging = new Set<SimulatedNode>()
  #inclusion: number
  /** Whether miners may put transactions into blocks that were replaced. */
  #hasRivals = false
  /** Whether a stranger executes calls of the mempool before their own transactions do. */
  #hasCopies = false
  #feeFactors: number[] = []
  /** The last balance that each account was given, in wei. */
  readonly #funds = new Map<number, bigint>()
  /** The last changes of each kind that owners made. */
  readonly #changes = new Map<string, OwnerChange>()

  constructor(options: WeatherOptions) {
    this.#options = options
    this.#inclusion = options.plan.world.inclusion
  }

  start(): void {
    const { time, plan, nodes, random } = this.#options
    for (const node of nodes) {
      node.onTaken = (transaction) => {
        for (const other of nodes) {
          if (other === node || random.chance(0.1)) continue
          time.after(random.between(5, 400), undefined, () => void other.take(transaction))
        }
      }
    }
    for (const fault of plan.faults) time.at(fault.atMs, undefined, () => this.#begin(fault))
    time.at(plan.calmFromMs, undefined, () => this.#calm())
    this.#planBlock()
  }

  lineTo(node: number): Line {
    return this.#lines.get(node) ?? CLEAR_LINE
  }

  #calm(): void {
    const { time, servers, nodes, plan, cluster } = this.#options
    time.tell('the weather is fine from now on')
    this.#lines.clear()
    this.#lagging.clear()
    cluster.isCutOff = false
    this.#inclusion = plan.world.inclusion
    this.#hasRivals = false
    this.#hasCopies = false
    // A reorganisation may have dropped the transfer that ended an account's poverty.
    for (let account = 0; account < plan.world.accounts; account++) this.#fund(account, RICH_WEI)
    for (const server of servers) if (!server.process.isAlive) server.start()
    for (const node of nodes) this.#propagateTo(node)
  }

  #begin(fault: Fault): void {
    const { time, servers, nodes, chain, cluster, operator, plan } = this.#options
    const { kind, ...what } = fault
    if (kind !== 'crash' && kind !== 'sleep') time.tell(`${kind} ${JSON.stringify({ ...what, atMs: undefined })}`)
    const until = (ms: number, end: () => void) => time.after(ms, undefined, end)
    switch (fault.kind) {
      case 'crash': {
        const server = servers[fault.server]
        server?.crash()
        until(fault.forMs, () => server?.process.isAlive || server?.start())
        return
      }
      case 'sleep':
        return servers[fault.server]?.sleep(fault.forMs)
      case 'clock': {
        const process = servers[fault.server]?.process
        if (process) process.aheadMs += fault.byMs
        return
      }
      case 'trouble':
        return this.#lineFor(fault.node, fault.forMs, {
          ...CLEAR_LINE,
          troubles: new Map([[fault.trouble, fault.share]]),
        })
      case 'silence':
        return this.#lineFor(fault.node, fault.forMs, { ...CLEAR_LINE, troubles: new Map([['unheard', 1]]) })
      case 'lag': {
        const node = nodes[fault.node]
        if (!node) return
        this.#lagging.add(node)
        until(fault.forMs, () => this.#lagging.delete(node) && this.#propagateTo(node))
        return
      }
      case 'forget':
        return nodes[fault.node]?.pool.clear()
      case 'reorganisation':
        return this.#reorganise(fault)
      case 'rivals':
        this.#hasRivals = true
        until(fault.forMs, () => (this.#hasRivals = false))
        return
      case 'copies':
        this.#hasCopies = true
        until(fault.forMs, () => (this.#hasCopies = false))
        return
      case 'fee':
        this.#feeFactors = Array.from({ length: fault.blocks }, () => fault.factor)
        return
      case 'steal':
        return void chain.foreign.push({ from: addressOf(fault.account) })
      case 'poor':
        this.#fund(fault.account, POOR_WEI)
        until(fault.forMs, () => this.#fund(fault.account, RICH_WEI))
        return
      case 'full-blocks':
        this.#inclusion = 0
        until(fault.forMs, () => (this.#inclusion = plan.world.inclusion))
        return
      case 'operator':
        return operator.begin(fault)
      case 'owner':
        this.#change(fault, true)
        until(fault.forMs, () => this.#change(fault, false))
        return
      case 'cut':
        cluster.isCutOff = true
        until(fault.forMs, () => (cluster.isCutOff = false))
    }
  }

  #lineFor(node: number, forMs: number, line: Line): void {
    this.#lines.set(node, line)
    this.#options.time.after(forMs, undefined, () => {
      if (this.#lines.get(node) === line) this.#lines.delete(node)
    })
  }

  /** Sets the balance of an account in the latest block, as a transfer would. */
  #fund(account: number, wei: bigint): void {
    this.#funds.set(account, wei)
    this.#options.chain.head.state.balances.set(addressOf(account), wei)
  }

  /** Has an owner change something in the next block, or change it back. */
  #change({ change, ...at }: Extract<Fault, { kind: 'owner' }>, isBegun: boolean): void {
    const profile = profilesOf(this.#options.plan)[at.profile]
    const controller = controllers[at.controller]
    if (!profile || controller === undefined) return
    const usual = profile.controllers.get(controller) ?? 0n
    const changed = change === 'lessen' ? usual & ~permissionBits.EXECUTE_RELAY_CALL : 0n
    const made: OwnerChange =
      change === 'hand-over'
        ? { kind: 'owner', profile, keyManager: isBegun ? profile.successor : profile.keyManager }
        : { kind: 'permissions', profile, controller, bits: isBegun ? changed : usual }
    this.#changes.set([made.kind, profile.address, made.kind === 'owner' ? '' : controller].join(), made)
    this.#options.chain.changes.push(made)
  }

  #planBlock(): void {
    const { time, random, plan } = this.#options
    time.after(plan.world.blockMs * random.between(0.8, 1.2), undefined, () => {
      this.#mine()
      this.#planBlock()
    })
  }

  #mine(): void {
    const { chain, nodes, random } = this.#options
    const proposer = random.pick(nodes)
    chain.feeFactor = this.#feeFactors.shift() ?? driftOf(random)
    const offered = proposer.executable(random).filter(() => random.chance(this.#inclusion))
    this.#extend(chain.head, [...this.#copied(proposer), ...this.#heldInstead(offered)])
    for (const node of nodes) this.#propagateTo(node)
  }

  /** The same transactions, or rivals with the same nonces when miners have not received the replacement. */
  #heldInstead(transactions: readonly Transaction[]): Transaction[] {
    const { chain, random } = this.#options
    return transactions.map((one) => (this.#hasRivals && random.chance(0.5) ? random.pick(chain.rivalsOf(one)) : one))
  }

  /** What a stranger makes of some transactions of a mempool that carry calls. */
  #copied(proposer: SimulatedNode): Transaction[] {
    const { chain, random } = this.#options
    if (!this.#hasCopies) return []
    const nonce = chain.head.state.nonces.get(STRANGER) ?? 0
    const wanted = proposer.executable(random).filter(({ from, calls }) => from !== STRANGER && calls.length > 0)
    return wanted.filter(() => random.chance(0.5)).map((transaction, index) => chain.copyOf(transaction, nonce + index))
  }

  /** @param nowSeconds the time of the block; absent: the present time */
  #extend(parent: Block, offered: readonly Transaction[], nowSeconds?: number): void {
    const { time, chain } = this.#options
    chain.head = chain.mine(parent, offered, nowSeconds ?? Math.floor(time.nowMs / 1000) + CHAIN_BEGINS)
    const held = chain.head.receipts.map(
      ({ transaction: { hash, nonce }, succeeded }) => `${hash.slice(0, 10)} (${nonce}${succeeded ? '' : ', reverts'})`,
    )
    const line = `block ${chain.head.number} holds ${held.join(', ') || 'nothing'}`
    if (held.length > 0) time.tell(line)
    else time.log(line)
  }

  #propagateTo(node: SimulatedNode): void {
    const { time, random, chain } = this.#options
    if (this.#lagging.has(node)) return
    time.after(random.between(0, 150), undefined, () => {
      if (!this.#lagging.has(node) && node.head !== chain.head) node.adopt(chain.head)
    })
  }

  /** Replaces blocks by one block more. The new blocks hold some transactions of the old ones. */
  #reorganise({ depth, keeps, takesOffered }: Extract<Fault, { kind: 'reorganisation' }>): void {
    const { chain, nodes, random } = this.#options
    let parent = chain.head
    const dropped: Block[] = []
    while (dropped.length < depth && parent.parent) {
      dropped.unshift(parent)
      parent = parent.parent
    }
    const transactions = dropped.flatMap(({ receipts }) => receipts.map(({ transaction }) => transaction))
    const kept = random.shuffled(transactions).filter(() => random.chance(keeps))
    const offered = takesOffered ? random.pick(nodes).executable(random) : []
    // The first new block has the time of the first block that it replaces.
    this.#extend(parent, this.#heldInstead([...kept, ...offered]), dropped[0]?.timestamp)
    for (let extra = 0; extra < dropped.length; extra++) this.#extend(chain.head, [])
    // The transfers were in blocks that are gone, so the balances are set again.
    for (const [account, wei] of this.#funds) this.#fund(account, wei)
    // So were the transactions of owners, which the next block holds again.
    chain.changes = [...this.#changes.values()]
    for (const node of nodes) this.#propagateTo(node)
  }
}

/** Unix seconds of the first block. */
export const CHAIN_BEGINS = Math.floor(Date.UTC(2026, 0, 14, 9) / 1000)

const addressOf = (account: number) => (signerAddresses[account] ?? '').toLowerCase()
