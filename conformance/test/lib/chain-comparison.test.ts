import { expect } from 'chai'
import { compareWithChain } from '../../lib/chain-comparison.ts'
import type { ChainTruth } from '../../lib/chain-truth.ts'
import type { Recording } from '../../lib/recording.ts'
import type { CausedTransaction, Report } from '../../lib/report-types.ts'
import { UsageError } from '../../lib/outcome.ts'
import { reportOf } from '../support/samples.ts'

const hash = `0x${'ab'.repeat(32)}`
const signature = `0x${'cd'.repeat(64)}1b`
const receipt = { transactionHash: hash, status: '0x1', gasUsed: '0x5208', blockNumber: '0x7', logs: [] }

/** What a node answers, by question. A question that is not listed is refused, as by a node without old states. */
function nodeOf(answers: Readonly<Record<string, unknown>>): ChainTruth {
  const attempt: ChainTruth['attempt'] = (method, params = []) => {
    const question = `${method} ${JSON.stringify(params)}`
    const has = Object.hasOwn(answers, question)
    return Promise.resolve(has ? { result: answers[question] } : { error: { message: 'missing trie node' } })
  }
  const send: ChainTruth['send'] = async (method, params) => {
    const outcome = await attempt(method, params)
    return 'result' in outcome ? outcome.result : null
  }
  return { ...({} as ChainTruth), chainId: 5n, attempt, send }
}

/** A record of these answers of the chain's node. */
const recorded = (...answers: readonly (readonly [question: string, result: unknown])[]): Recording => ({
  startMs: 0,
  seed: '',
  signatures: [],
  options: {},
  scopes: {
    run: {
      events: answers.map(([asked, result], n) => ({ n, asked: `chain ${asked}`, answer: { response: { result } } })),
    },
  },
})

const ofChain5 = (...transactions: readonly CausedTransaction[]): Report =>
  reportOf([], {
    chain: { chainId: 5, node: 'Geth/1' },
    transactions,
    startedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 1000,
  })

const caused = (changes: Partial<CausedTransaction> = {}): CausedTransaction => ({
  ...{ hash, clause: 'relay.execute.post', status: 'succeeded', gasUsed: '21000' },
  ...changes,
})

/** Compares a record of one answer with a node that answers the question so now. */
const compareOne = (question: string, result: unknown, now = result) =>
  compareWithChain(ofChain5(), recorded([question, result]), [], nodeOf({ [question]: now }))

const byHash = `eth_getTransactionByHash ["${hash}"]`
const receiptOf = `eth_getTransactionReceipt ["${hash}"]`

describe('a record beside the chain', () => {
  it('agrees with a node of another kind, which has other members and other letters', async () => {
    const other = { ...receipt, transactionHash: hash.toUpperCase().replace('X', 'x'), blobGasPrice: '0x1' }
    const record = recorded([receiptOf, receipt], ['eth_getBalance ["0x1","0x7"]', '0x9'])
    const found = await compareWithChain(ofChain5(), record, [], nodeOf({ [receiptOf]: other }))
    expect(found).to.include({ answers: 1, notAsked: 1 })
    expect(found.findings).to.deep.equal([])
  })

  it('is contradicted by another value, and by every member that the same node has', async () => {
    const record = recorded([receiptOf, receipt])
    const failed = nodeOf({ [receiptOf]: { ...receipt, status: '0x0' } })
    expect((await compareWithChain(ofChain5(), record, [], failed)).findings).to.have.length(1)
    const lacking: unknown = JSON.parse(JSON.stringify({ ...receipt, status: undefined }))
    const silent = nodeOf({ [receiptOf]: lacking })
    expect((await compareWithChain(ofChain5(), record, [], silent)).findings).to.have.length(1)
    const longer = { [receiptOf]: { ...receipt, l1Fee: '0x1' }, 'web3_clientVersion []': 'Geth/1' }
    const sameNode: ChainTruth = { ...nodeOf(longer), send: (method) => Promise.resolve(longer[`${method} []`]) }
    expect((await compareWithChain(ofChain5(), record, [], sameNode)).findings).to.have.length(1)
  })

  for (const [question, result] of [
    ['eth_chainId []', '0x5'],
    ['eth_getBlockByHash ["0xab",false]', {}],
    [receiptOf, receipt],
    [byHash, { blockHash: '0xab' }],
    ['eth_getBlockByNumber ["0x7",false]', {}],
    ['eth_getBalance ["0x1","0x7"]', '0x1'],
    ['eth_getCode ["0x1","0x7"]', '0x'],
    ['eth_getTransactionCount ["0x1","0x7"]', '0x0'],
    ['eth_call [{},"0x7"]', '0x'],
    ['eth_getLogs [{"blockHash":"0xab"}]', []],
    ['eth_getLogs [{"fromBlock":"0x1","toBlock":"0x2"}]', []],
  ] as const) {
    it(`compares ${question}`, async () => {
      expect(await compareOne(question, result)).to.include({ answers: 1, notAsked: 0 })
      expect((await compareOne(question, result, 'other')).findings).to.have.length(1)
    })
  }

  for (const [question, result] of [
    [byHash, { blockHash: null }],
    [byHash, {}],
    ['eth_getBlockByNumber ["latest",false]', {}],
    ['eth_call [{},7]', '0x'],
    ['eth_call [{}]', '0x'],
    ['eth_getLogs [{"fromBlock":"0x1","toBlock":"latest"}]', []],
    ['eth_getLogs [{"fromBlock":"earliest","toBlock":"0x2"}]', []],
    ['eth_getLogs [{}]', []],
    ['eth_getLogs []', []],
    ['eth_gasPrice []', '0x1'],
    [receiptOf, undefined],
  ] as const) {
    it(`does not compare ${question}, with ${JSON.stringify(result) ?? 'nothing'}`, async () => {
      expect(await compareOne(question, result)).to.include({ answers: 0, notAsked: 0 })
    })
  }

  it('leaves out what changes: the latest block, and what was not there yet', async () => {
    const record = recorded(
      ['eth_getBalance ["0x1","latest"]', '0x9'],
      [receiptOf, null],
      ['eth_blockNumber []', '0x7'],
    )
    const found = await compareWithChain(ofChain5(), record, [], nodeOf({}))
    expect(found).to.include({ answers: 0, notAsked: 0 })
  })

  it('says of each transaction what the chain knows otherwise, and whose signature it carries', async () => {
    const input = `0x1234${signature.slice(2)}00`
    const node = nodeOf({ [receiptOf]: receipt, [byHash]: { input: input.toUpperCase() } })
    const judge = async (transaction: CausedTransaction, chain = node) =>
      compareWithChain(ofChain5(transaction), recorded(), [signature], chain)
    expect(await judge(caused())).to.include({ transactions: 1, signed: 1 })
    expect((await judge(caused())).findings).to.deep.equal([])
    expect((await judge(caused({ status: 'reverted' }))).findings.join()).to.match(
      /succeeded; the report says that it reverted/,
    )
    expect((await judge(caused({ gasUsed: '1' }))).findings.join()).to.match(/took 21000 gas; the report says 1/)
    expect((await judge(caused({ hash: 'none' }))).findings).to.deep.equal(['none is no hash of a transaction'])
    expect((await judge(caused(), nodeOf({}))).findings).to.deep.equal([`the chain knows no transaction ${hash}`])
  })

  it('lets a transaction be mined after the run, and not before its end', async () => {
    const lost: CausedTransaction = { hash, clause: 'relay.execute.post', status: 'not found' }
    const minedAt = (time: string) =>
      nodeOf({
        [receiptOf]: receipt,
        'eth_getBlockByNumber ["0x7",false]': { timestamp: `0x${(Date.parse(time) / 1000).toString(16)}` },
      })
    const findings = async (time: string) =>
      (await compareWithChain(ofChain5(lost), recorded(), [], minedAt(time))).findings
    expect(await findings('2026-01-01T00:00:09Z')).to.deep.equal([])
    expect((await findings('2026-01-01T00:00:00Z')).join()).to.include('was mined before the run ended')
  })

  it('is not compared with another chain', async () => {
    const other = { ...nodeOf({}), chainId: 6n }
    const error: unknown = await compareWithChain(ofChain5(), recorded(), [], other).catch((thrown: unknown) => thrown)
    expect(error)
      .to.be.instanceOf(UsageError)
      .with.property('message')
      .that.matches(/about chain 5.*of chain 6/)
  })
})
