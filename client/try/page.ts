// The page /try of the testbed. It runs in the browser as it stands, its types stripped.
import { parseEther, Wallet } from 'ethers'
import type { TransactionStatus } from '../../specs/index.ts'
import { createRelayClient, isRelayError, type Quota, type RelayClient } from '../index.ts'

/** What the testbed tells the page. Its keys are worth nothing on another chain. */
interface Testbed {
  readonly profile: string
  readonly controller: { readonly address: string; readonly privateKey: string }
  readonly recipient: string
}

/** The relay settles within a few seconds of the block. */
const LOOKS = 60
const LOOK_PAUSE_MS = 250

const here = new URL('.', location.href)

function find<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id)
  if (element instanceof kind) return element
  throw new Error(`the page has no ${id}`)
}

const connect = find('connect', HTMLButtonElement)
const form = find('call', HTMLFormElement)
const fields = find('fields', HTMLFieldSetElement)
const recipient = find('to', HTMLInputElement)
const value = find('value', HTMLInputElement)
const data = find('data', HTMLInputElement)
const calls = find('calls', HTMLOListElement)

connect.addEventListener('click', () => {
  connect.disabled = true
  void open().catch((error: unknown) => {
    connect.disabled = false
    find('quota', HTMLElement).textContent = textOf(error)
  })
})

async function open(): Promise<void> {
  const response = await fetch(new URL('try/testbed.json', here))
  const testbed = (await response.json()) as Testbed
  const client = createRelayClient({
    relayUrl: here.href,
    profile: testbed.profile,
    controller: new Wallet(testbed.controller.privateKey),
    node: new URL('try/rpc', here).href,
  })
  find('profile', HTMLElement).textContent = testbed.profile
  find('controller', HTMLElement).textContent = testbed.controller.address
  recipient.value ||= testbed.recipient
  showQuota(await client.quota())
  fields.disabled = false
  connect.textContent = 'Connected'
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void send(client)
  })
}

/** Makes one call, and shows each step in its line: signature, answer, block, quota. */
async function send(client: RelayClient): Promise<void> {
  const line = document.createElement('li')
  const state = document.createElement('strong')
  const facts = document.createElement('span')
  line.append(state, facts)
  calls.prepend(line)
  const show = (status: string, words: string, text = '') => {
    line.dataset['status'] = status
    state.textContent = words
    facts.textContent = text
  }
  try {
    show('signed', 'Signed, on its way to the relay')
    const valueWei = parseEther(value.value || '0')
    const { transactionHash } = await client.execute({ to: recipient.value, value: valueWei, data: data.value || '0x' })
    show('accepted', 'Accepted, waits for a block', transactionHash)
    showQuota(await client.quota())
    const outcome = await client.wait(transactionHash)
    if (outcome.status === 'abandoned') return show('abandoned', 'Given up by the relay', outcome.transactionHash)
    const mined = `Block ${outcome.blockNumber}, ${outcome.gasUsed.toLocaleString('en')} gas`
    const words = outcome.status === 'executed' ? 'Executed' : 'Reverted'
    show('mined', words, `${mined}. ${outcome.transactionHash}`)
    const charged = await chargeFor(outcome.transactionHash)
    showQuota(await client.quota())
    show(outcome.status, words, `${mined}, ${charged} off the quota. ${outcome.transactionHash}`)
  } catch (error) {
    show('failed', isRelayError(error) ? error.code : 'Failed', textOf(error))
  }
}

/** Waits for the charge. Until the relay has settled the call, the quota lacks the most that the call can cost. */
async function chargeFor(transactionHash: string): Promise<string> {
  for (let look = 0; look < LOOKS; look++) {
    const response = await fetch(new URL(`transactions/${transactionHash}`, here))
    const { charged } = (await response.json()) as TransactionStatus
    if (charged) return `${charged.amount.toLocaleString('en')} ${charged.unit}`
    await new Promise((resolve) => setTimeout(resolve, LOOK_PAUSE_MS))
  }
  return 'not yet settled, nothing'
}

function showQuota({ quota, unit, totalQuota, resetDate }: Quota): void {
  const total = totalQuota === undefined ? '' : ` of ${totalQuota.toLocaleString('en')}`
  const reset = resetDate ? `, full again on ${resetDate.toISOString().slice(0, 10)}` : ''
  const name = { gas: 'gas', lyx: 'wei', transactionCount: 'transactions' }[unit]
  find('quota', HTMLElement).textContent = `${quota.toLocaleString('en')}${total} ${name}${reset}`
  find('quota', HTMLElement).dataset['quota'] = String(quota)
}

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
