import { type ChainTruth, chainQuestionIn } from './chain-truth.ts'
import { showValue, UsageError } from './outcome.ts'
import { isHash, normalHash } from './relay/answers.ts'
import type { Receipt } from './relay/receipt.ts'
import type { Recording } from './recording.ts'
import type { CausedTransaction, Report } from './report-types.ts'

/** What the chain says of a recorded run. */
export interface ChainComparison {
  /** One line for each statement that the chain contradicts. */
  readonly findings: readonly string[]
  /** How many transactions the report has. */
  readonly transactions: number
  /** How many of them carry a signature of whoever signed the report. */
  readonly signed: number
  /** Answers of the chain's node in the record that the chain gives again. */
  readonly answers: number
  /** Answers that the node no longer gives: states of old blocks. */
  readonly notAsked: number
}

/** An answer of the chain's node in the record. */
interface ChainAnswer {
  readonly method: string
  readonly params: readonly unknown[]
  readonly result: unknown
}

const isNumber = (value: unknown): boolean => typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value)

/** Whether the chain's answer never changes: it is about a mined transaction, or a block that the question names. */
function isFinal({ method, params, result }: ChainAnswer): boolean {
  if (result === null || result === undefined) return false
  switch (method) {
    case 'eth_chainId':
    case 'eth_getBlockByHash':
    case 'eth_getTransactionReceipt':
      return true
    case 'eth_getTransactionByHash':
      return ((result as { blockHash?: unknown }).blockHash ?? null) !== null
    case 'eth_getBlockByNumber':
      return isNumber(params[0])
    case 'eth_getBalance':
    case 'eth_getCode':
    case 'eth_getTransactionCount':
    case 'eth_call':
      return isNumber(params[1])
    case 'eth_getLogs': {
      const { fromBlock, toBlock, blockHash } = (params[0] ?? {}) as Record<string, unknown>
      return isNumber(blockHash) || (isNumber(fromBlock) && isNumber(toBlock))
    }
    default:
      return false
  }
}

/** The answers in the record that the chain's node gives today as well, each of them once. */
function finalAnswers({ scopes }: Recording): ChainAnswer[] {
  const found = new Map<string, ChainAnswer>()
  for (const { events } of Object.values(scopes)) {
    for (const { asked, answer } of events) {
      const question = chainQuestionIn(asked)
      const { response } = (answer ?? {}) as { response?: { result?: unknown } }
      if (!question || !response || !('result' in response)) continue
      const one = { ...question, result: response.result }
      if (isFinal(one)) found.set(`${asked} ${JSON.stringify(one.result)}`, one)
    }
  }
  return [...found.values()]
}

/** Members of blocks, transactions, receipts and logs that every node tells, and checks look at. */
const essential = new Set([
  ...['address', 'blockHash', 'blockNumber', 'data', 'from', 'gasUsed', 'hash', 'input', 'logIndex', 'logs', 'nonce'],
  ...['status', 'timestamp', 'to', 'topics', 'transactionHash', 'transactionIndex', 'transactions', 'value'],
])

/** Whether two answers say the same. Nodes of two kinds have members that the other does not have. */
function agrees(recorded: unknown, present: unknown, isSameNode: boolean): boolean {
  if (Object.is(recorded, present)) return true
  if (typeof recorded === 'string' && typeof present === 'string') {
    return recorded.toLowerCase() === present.toLowerCase()
  }
  if (typeof recorded !== 'object' || typeof present !== 'object' || recorded === null || present === null) return false
  if (Array.isArray(recorded) !== Array.isArray(present)) return false
  const isWhole = isSameNode || Array.isArray(recorded)
  const isCompared = (name: string): boolean =>
    isWhole || essential.has(name) || (Object.hasOwn(recorded, name) && Object.hasOwn(present, name))
  const members = (value: object) => value as Readonly<Record<string, unknown>>
  return [...new Set([...Object.keys(recorded), ...Object.keys(present)])]
    .filter(isCompared)
    .every((name) => agrees(members(recorded)[name], members(present)[name], isSameNode))
}

const atOnce = 8

/** Does some work for each item, `atOnce` at a time. */
async function forEach<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const open = items.values()
  const next = async (): Promise<void> => {
    for (const item of open) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, next))
}

/**
 * Compares what a recorded run says about the chain with the chain: each transaction that it caused, and each answer of
 * its node that cannot have changed since.
 *
 * @param signatures those of whoever signed the report, in hex
 * @throws UsageError when the chain is another one; Untestable when the node does not answer
 */
export async function compareWithChain(
  report: Report,
  recording: Recording,
  signatures: readonly string[],
  chain: ChainTruth,
): Promise<ChainComparison> {
  const { chainId = Number(chain.chainId), node } = report.chain ?? {}
  if (BigInt(chainId) !== chain.chainId) {
    throw new UsageError(`the report is about chain ${chainId}, and the node is of chain ${chain.chainId}`)
  }
  const isSameNode = node !== undefined && (await chain.send('web3_clientVersion').catch(() => undefined)) === node
  const findings: string[] = []
  let answers = 0
  let notAsked = 0
  await forEach(finalAnswers(recording), async ({ method, params, result }) => {
    const outcome = await chain.attempt(method, params)
    if ('error' in outcome) notAsked++
    else if (agrees(result, outcome.result, isSameNode)) answers++
    else {
      const question = `${method} ${showValue(params)}`
      findings.push(`the chain answers ${question} otherwise than the record: ${showValue(outcome.result)}`)
    }
  })
  // v has several spellings, so r and s are looked for.
  const marks = signatures.map((signature) => signature.slice(2, 130).toLowerCase())
  let signed = 0
  await forEach(report.transactions, async (transaction) => {
    if (!isHash(transaction.hash))
      return void findings.push(`${showValue(transaction.hash)} is no hash of a transaction`)
    const hash = normalHash(transaction.hash)
    findings.push(...(await wrongTransaction(report, { ...transaction, hash }, chain)))
    const { input } = ((await chain.send('eth_getTransactionByHash', [hash])) ?? {}) as { input?: string }
    if (input !== undefined && marks.some((mark) => input.toLowerCase().includes(mark))) signed++
  })
  return { findings: findings.sort(), transactions: report.transactions.length, signed, answers, notAsked }
}

/** What the chain says against a transaction of the report. */
async function wrongTransaction(
  { startedAt, durationMs }: Report,
  { hash, status, gasUsed }: CausedTransaction,
  chain: ChainTruth,
): Promise<string[]> {
  const receipt = (await chain.send('eth_getTransactionReceipt', [hash])) as Receipt | null
  if (!receipt) return status === 'succeeded' || status === 'reverted' ? [`the chain knows no transaction ${hash}`] : []
  if (status === 'not found') {
    // A transaction may be mined after the run has stopped waiting for it.
    const block = (await chain.send('eth_getBlockByNumber', [receipt.blockNumber, false])) as { timestamp: string }
    const isEarly = Number(block.timestamp) * 1000 < Date.parse(startedAt) + durationMs
    return isEarly
      ? [`the transaction ${hash} was mined before the run ended, and the report says that it was not found`]
      : []
  }
  const found = receipt.status === '0x1' ? 'succeeded' : 'reverted'
  const gas = String(BigInt(receipt.gasUsed))
  return [
    ...(status !== undefined && status !== found
      ? [`the transaction ${hash} ${found}; the report says that it ${status}`]
      : []),
    ...(gasUsed !== undefined && gasUsed !== gas
      ? [`the transaction ${hash} took ${gas} gas; the report says ${gasUsed}`]
      : []),
  ]
}
