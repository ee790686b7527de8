import { type Answer, describeAnswer, isServed, memberOf } from '../../lib/answer.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import {
  accountOf,
  accountsOf,
  type BalanceAt,
  balancesBetween,
  balanceSteps,
  differentBalances,
  fixtureAccounts,
  isOfAnother,
  pendingBalance,
} from '../../lib/eth-rpc/accounts.ts'
import { badParams, expectResultSchema } from '../../lib/eth-rpc/method-clauses.ts'
import { bracketed, eventually, lagBlocks, readHead } from '../../lib/eth-rpc/head.ts'
import { expectNumber, type Served } from '../../lib/eth-rpc/serve.ts'
import { needsManyDigits } from '../../lib/eth-rpc/known-transactions.ts'
import { isNumber, quantity } from '../../lib/eth-rpc/values.ts'
import { sampleAddress } from '../../lib/eth-rpc/methods.ts'
import { resultOf } from '../../lib/expect.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'

const method = 'eth_getBalance'

function otherBalance(address: string, where: string, expected: string, answer: Answer): Fault {
  return new Fault(`the balance of ${address} ${where} is not that of the chain`, {
    expected,
    actual: describeAnswer(answer),
    answer,
    of: 'eth-rpc.eth_getBalance.success',
  })
}

/**
 * Whether the target lacks a balance of the first block. Such balances are not imported, so the target may tell zero
 * or nothing while they last.
 */
async function isNotImported(t: CheckContext, { address, block }: BalanceAt): Promise<boolean> {
  const answer = await t.rpc.call(method, [address, quantity(block)])
  if (isServed(answer) && !isNumber(memberOf(answer, 'result'), 0n)) return false
  t.observe(`a balance that has stood since the first block is not there: ${describeAnswer(answer)}`)
  return true
}

async function expectBalanceAt(t: CheckContext, step: BalanceAt): Promise<void> {
  const { address, block, balance, isOld } = step
  const params = [address, quantity(block)]
  if (step.isOfGenesis && (await isNotImported(t, step))) return
  if (isOld && !isServed(await t.rpc.call(method, params))) {
    t.observe('balances at old blocks are refused: nodes drop the state of such')
    return
  }
  const { answer, result } = await eventually(
    t,
    async () => {
      const served = await expectNumber(t, method, params, 'a balance in wei', { isYoung: true })
      await requireOwnBalance(t, step, served)
      return served
    },
    ({ result }) => isNumber(result, balance),
  )
  if (!isNumber(result, balance)) throw otherBalance(address, `at block ${block}`, `${balance}`, answer)
}

/**
 * A target that is behind may tell the balance of a block near by. It cannot tell one that the account never had.
 *
 * @throws Fault when the account had another balance at every head of that time
 */
async function requireOwnBalance(t: CheckContext, step: BalanceAt, { answer, result }: Served): Promise<void> {
  const { address, block, balance } = step
  if (isNumber(result, balance) || isNumber(result, 0n)) return
  const head = await readHead(t.chain)
  const near = (at: bigint) =>
    balancesBetween(t.chain, address, at - lagBlocks, at + lagBlocks < head ? at + lagBlocks : head)
  const own = [...(await near(block)), ...(await near(head))]
  if (own.some((one) => isNumber(result, one))) return
  throw otherBalance(address, `at block ${block}`, `${balance}`, answer)
}

/**
 * The balances that are right for a tag: at every head since `since`, and with what waited to be mined.
 *
 * @param since a service may be behind; on a fast chain some seconds are many blocks
 */
async function askAtTag(t: CheckContext, address: string, tag: 'latest' | 'pending', since: bigint) {
  const pending = [tag === 'pending' ? await pendingBalance(t.chain, address) : undefined]
  const { value, after } = await bracketed(t.chain, () => expectNumber(t, method, [address, tag], 'a balance in wei'))
  if (tag === 'pending') pending.push(await pendingBalance(t.chain, address))
  const mined = await balancesBetween(t.chain, address, since - lagBlocks, after)
  const truth = [...new Set([...mined, ...pending.filter((balance) => balance !== undefined)])]
  return { ...value, truth }
}

async function expectBalanceAtTag(t: CheckContext, address: string, tag: 'latest' | 'pending'): Promise<void> {
  const isRight = ({ result, truth }: Awaited<ReturnType<typeof askAtTag>>) =>
    truth.some((balance) => isNumber(result, balance))
  const since = await readHead(t.chain)
  const seen = await eventually(t, () => askAtTag(t, address, tag, since), isRight)
  if (!isRight(seen)) throw otherBalance(address, `at ${tag}`, seen.truth.join(' or '), seen.answer)
}

/** How many blocks before the head to look for a balance that is told as pending. */
const oldest = 50n

/**
 * What waits to be mined differs between nodes. It does not bring back the balance of an older block, to the last wei.
 *
 * @throws Fault when the balance at "pending" is that of an older block, and of none since
 */
async function expectNoOldPending(t: CheckContext, address: string): Promise<void> {
  const since = await readHead(t.chain)
  const ask = async () => {
    const seen = await askAtTag(t, address, 'pending', since)
    const { result, truth } = seen
    if (truth.some((balance) => isNumber(result, balance))) return { ...seen, isOld: false }
    const old = await balancesBetween(t.chain, address, since - oldest, since - lagBlocks - 1n)
    // An amount without many digits may come again by chance.
    return { ...seen, isOld: old.some((balance) => needsManyDigits(balance) && isNumber(result, balance)) }
  }
  const seen = await eventually(t, ask, ({ isOld }) => !isOld)
  if (seen.isOld)
    throw otherBalance(address, 'at pending, which is that of an older block,', seen.truth.join(' or '), seen.answer)
}

/** How often several balances are asked for at once. */
const rounds = 3

/**
 * Asks for balances of several accounts at the same time. A target may serve one request at a time, and refuse the others.
 *
 * @throws Fault when an account is told the balance of another one
 */
async function expectOwnAtOnce(t: CheckContext): Promise<void> {
  const asked = await differentBalances(t)
  if (asked.length === 0) return t.observe('not seen: several accounts with different balances')
  for (let round = 0; round < rounds; round++) {
    const answers = await Promise.all(asked.map(({ address, block }) => t.rpc.call(method, [address, quantity(block)])))
    for (const [index, answer] of answers.entries()) {
      const step = asked[index] as BalanceAt
      const result = isServed(answer) ? memberOf(answer, 'result') : undefined
      if (!(await isOfAnother(t, asked, step, result))) continue
      const where = `at block ${step.block}, asked for together with others`
      throw otherBalance(step.address, where, `${step.balance}`, answer)
    }
  }
}

export default [
  clause('eth-rpc.eth_getBalance.success', (check) => {
    check('at blocks of each age: as on the chain, before and after a change', async (t) => {
      const steps = await balanceSteps(t)
      for (const step of steps) await expectBalanceAt(t, step)
      if (!steps.some(({ balance }) => needsManyDigits(balance))) {
        t.observe('no balance was seen that needs more digits than a double holds')
      }
    })

    check('at latest: as on the chain at a head of the moment', async (t) => {
      const address = await accountOf(t)
      await expectBalanceAtTag(t, address.toLowerCase(), 'latest')
    })

    check('of several accounts at once: each its own', { needs: ['chain'] }, expectOwnAtOnce)

    // Pending transactions differ between nodes. For accounts that nobody else uses they are known.
    check('at pending: as on the chain, for accounts that nobody else uses', async (t) => {
      const accounts = fixtureAccounts(t).slice(0, 2)
      if (accounts.length === 0) t.observe('balances at pending were not compared: there is no fixture')
      for (const address of accounts) await expectBalanceAtTag(t, address.toLowerCase(), 'pending')
    })

    check('at pending: no balance of an older block', { needs: ['chain'] }, async (t) => {
      const steps = await balanceSteps(t)
      const changing = steps.filter((step) =>
        steps.some((one) => one.address === step.address && one.balance !== step.balance),
      )
      if (changing.length === 0) t.observe('not seen: an account whose balance has changed of late')
      for (const address of new Set(changing.map((step) => step.address))) await expectNoOldPending(t, address)
    })
  }),

  clause('eth-rpc.eth_getBalance.earliest', (check) => {
    check('the answer to "earliest"', async (t) => {
      const [address = sampleAddress] = await accountsOf(t).catch((error: unknown) => {
        if (error instanceof Untestable || error instanceof Fault) return []
        throw error
      })
      const answer = await t.rpc.call(method, [address, 'earliest'])
      t.observe(`eth_getBalance of ${address} at "earliest": ${describeAnswer(answer)}`)
    })
  }),

  clause('eth-rpc.eth_getBalance.result-schema', (check) => {
    check('is a quantity of at most 256 bits', async (t) => {
      const address = await accountOf(t)
      // More blocks have been mined by now, so a balance that stands still shows.
      if (t.hasChain) await expectBalanceAtTag(t, address.toLowerCase(), 'latest')
      expectResultSchema(t, method, resultOf(await t.rpc.call(method, [address, 'latest'])))
    })
  }),

  badParams(method, async (t) => [await accountOf(t), 'latest'], [
    { fault: 'no parameters', spoil: () => [] },
    { fault: 'a parameter too many', spoil: (good) => [...good, 'latest'] },
    { fault: 'an address of 19 bytes', spoil: ([, block]) => [sampleAddress.slice(0, -2), block] },
    { fault: 'an address of 21 bytes', spoil: ([, block]) => [`${sampleAddress}00`, block] },
    { fault: 'an address that is not hex', spoil: ([, block]) => [`${sampleAddress.slice(0, -1)}g`, block] },
    { fault: 'a number instead of an address', spoil: ([, block]) => [1, block] },
    { fault: 'a block that is neither number nor tag', spoil: ([address]) => [address, 'newest'] },
    { fault: 'a boolean instead of a block', spoil: ([address]) => [address, true] },
    {
      fault: 'parameters by name instead of by position',
      spoil: ([address, block]) => ({ address, block }),
    },
  ]),
]
