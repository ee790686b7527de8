import { editionTerms } from '../../lib/target.ts'
import { Untestable } from '../../lib/outcome.ts'
import { requestObject, transactionOf } from '../../altered/lib/relay.ts'
import { type ExecuteRequest, executeRequests, isAddress, isHex, isObject, pathOf, readInteger } from '../requests.ts'
import { clientClause, type ClientContext, type Instead, judgeEach, show, type Wrong } from '../recording.ts'

const kind = 'call to POST /execute'

const judgeRequests = (t: ClientContext, wrongOf: (request: ExecuteRequest) => Wrong | undefined): void =>
  judgeEach(t, kind, executeRequests(t.recording), wrongOf)

const wrongPost =
  (path: string) =>
  (item: ExecuteRequest): Wrong | undefined => {
    const { recorded } = item
    const { request } = recorded
    const isThere = request.method === 'POST' && pathOf(recorded) === path
    if (isThere && isObject(requestObject(request)['transaction'])) return undefined
    return {
      message: isThere ? 'the body is no object with the object transaction' : 'the call is sent to another place',
      expected: `POST ${path} with { address, transaction: { … } }`,
      actual: isThere ? request.text.slice(0, 200) : `${request.method} ${request.path}`,
    }
  }

function wrongMembers({ recorded: { request } }: ExecuteRequest): Wrong | undefined {
  const [body, transaction] = [requestObject(request), transactionOf(request)]
  const missing = [
    ...(body['address'] === undefined ? ['address'] : []),
    ...['abi', 'signature', 'nonce']
      .filter((name) => transaction[name] === undefined)
      .map((name) => `transaction.${name}`),
  ]
  if (missing.length === 0) return undefined
  return {
    message: `the body lacks ${missing.join(', ')}`,
    expected: 'address, transaction.abi, transaction.signature and transaction.nonce',
    actual: `body: ${Object.keys(body).join(', ') || 'nothing'}; transaction: ${Object.keys(transaction).join(', ') || 'nothing'}`,
  }
}

function wrongHex({ recorded: { request } }: ExecuteRequest): Wrong | undefined {
  const { address } = requestObject(request)
  const { abi, signature } = transactionOf(request)
  const members: [string, unknown, boolean][] = [
    ['address', address, isAddress(address)],
    ['transaction.abi', abi, isHex(abi)],
    ['transaction.signature', signature, isHex(signature)],
  ]
  // A member that is not there is for the clause on members.
  const wrong = members.find(([, value, isRight]) => value !== undefined && !isRight)
  if (!wrong) return undefined
  const [name, value] = wrong
  return { message: `${name} is no hex`, expected: 'a string of hex; an address has 20 bytes', actual: show(value) }
}

/** Requests that were judged by the chain: at the right place, with an address. */
const placed = (t: ClientContext) =>
  executeRequests(t.recording).filter(({ recorded, form }) => recorded.call && form.address !== undefined)

/** Requests whose signature could be judged: whole, and for a profile. */
const whole = (t: ClientContext) =>
  placed(t).filter(
    ({ recorded: { call }, form }) => call?.keyManager !== undefined && form.payload && form.signature && form.nonce,
  )

/** The fault of a call whose signature is a controller's over something else, when this clause says so. */
function wrongMessage(of: Instead['clause'], expected: string) {
  return ({ recorded: { call } }: ExecuteRequest): Wrong | undefined =>
    call?.instead?.clause === of
      ? {
          message: 'the signature is not over the relay message',
          expected,
          actual: `${call.instead.what}, signed by ${call.signer}`,
        }
      : undefined
}

/** Whether the body writes a member as a double beyond 2^53 is written: an exponent in place of the last digits. */
const isRounded = ({ recorded: { request } }: ExecuteRequest, member: 'nonce' | 'validityTimestamps'): boolean =>
  readInteger(transactionOf(request)[member])?.form === 'rounded'

/** Whole calls without a number that has lost digits, which is a clause of its own: what was signed cannot be known then. */
const recoverable = (t: ClientContext) =>
  whole(t).filter((item) => !isRounded(item, 'nonce') && !isRounded(item, 'validityTimestamps'))

/** Whole calls that a controller has signed, over whatever message. */
const signedBySome = (t: ClientContext) => whole(t).filter(({ recorded: { call } }) => call?.signer !== undefined)

export default [
  clientClause('client.execute.post', 'each call goes to POST /execute, with the object transaction', (t) =>
    judgeRequests(t, wrongPost(`${editionTerms[t.edition].pathPrefix}/execute`)),
  ),

  clientClause('client.execute.members', 'each body has every required member', (t) => judgeRequests(t, wrongMembers)),

  clientClause('client.execute.hex', 'address, abi and signature are hex', (t) => judgeRequests(t, wrongHex)),

  clientClause('client.execute.profile', 'the chain knows a profile at each address', (t) =>
    judgeEach(t, `${kind} with an address`, placed(t), ({ recorded: { call }, form: { address } }) =>
      call?.keyManager === undefined
        ? {
            message: 'address is not that of a profile',
            expected: 'a contract that a key manager owns',
            actual: show(address),
          }
        : undefined,
    ),
  ),

  clientClause('client.execute.signature', 'each signature is that of a controller of the profile', (t) =>
    judgeEach(t, `whole ${kind} for a profile`, recoverable(t), ({ recorded: { call }, form }) => {
      if (call?.signer !== undefined) return undefined
      const bytes = ((form.signature?.length ?? 2) - 2) / 2
      return {
        message: 'the signature is not that of a controller, over none of the messages that clients are known to sign',
        expected: 'a signature of a controller of the profile over the relay message (LSP25)',
        actual:
          bytes === 65 || bytes === 64 ? `a signature of somebody else, or over something else` : `${bytes} bytes`,
      }
    }),
  ),

  clientClause('client.execute.digest', 'each signature is over the digest of LSP25', (t) => {
    const expected = 'the digest of LSP25, of the members of the request and the value 0, without a further prefix'
    judgeEach(
      t,
      `whole ${kind} that a controller signed`,
      signedBySome(t),
      wrongMessage('client.execute.digest', expected),
    )
  }),

  clientClause('client.execute.chain-id', 'each signature is over a message for this chain', (t) =>
    judgeEach(
      t,
      `whole ${kind} that a controller signed`,
      signedBySome(t),
      wrongMessage('client.execute.chain-id', 'a message for the chain that the profile is on'),
    ),
  ),

  clientClause('client.execute.nonce-integer', 'each nonce is an integer', (t) => {
    const items = executeRequests(t.recording).filter(
      ({ recorded }) => transactionOf(recorded.request)['nonce'] !== undefined,
    )
    judgeEach(t, `${kind} with a nonce`, items, ({ recorded: { request } }) => {
      const { nonce } = transactionOf(request)
      if (readInteger(nonce)) return undefined
      return { message: 'transaction.nonce is no integer', expected: 'an integer, from 0 on', actual: show(nonce) }
    })
  }),

  clientClause('client.execute.nonce-lossless', 'each nonce has the digits that were signed', (t) => {
    const items = executeRequests(t.recording).filter(({ form }) => form.nonce)
    // A small number in JSON says nothing of a large one; a string loses nothing.
    const telling = items.filter(({ form }) => form.nonce?.form !== 'integer' || form.nonce.value > 2n ** 53n)
    if (items.length > 0 && telling.length === 0) {
      throw new Untestable('not seen: no nonce was beyond 2^53, where digits are lost; another channel than 0 has such')
    }
    judgeEach(t, `${kind} with an integer nonce`, telling, (item) => {
      const { call, request } = item.recorded
      const signed = call?.instead?.clause === 'client.execute.nonce-lossless' ? call.instead.what : undefined
      if (signed === undefined && !isRounded(item, 'nonce')) return undefined
      return {
        message: 'transaction.nonce has lost digits: beyond 2^53 a double rounds',
        expected: signed ?? 'all digits of the nonce that was signed',
        actual: `nonce ${/"nonce"\s*:\s*([^,}\s]+)/.exec(request.text)?.[1] ?? 'absent'}`,
      }
    })
  }),

  clientClause('client.execute.nonce-as-string', 'how nonces are written', (t) => {
    const forms = executeRequests(t.recording).flatMap(({ recorded }) => {
      const { nonce } = transactionOf(recorded.request)
      return nonce === undefined
        ? []
        : [typeof nonce === 'string' ? (nonce.startsWith('0x') ? 'a hex string' : 'a decimal string') : 'a JSON number']
    })
    if (forms.length === 0) throw new Untestable(`not seen: the client sent no ${kind} with a nonce`)
    t.observe(`the nonce is ${[...new Set(forms)].join(', or ')}`)
  }),

  clientClause('client.execute.other-members', 'members beside those of the document', (t) => {
    const items = executeRequests(t.recording)
    if (items.length === 0) throw new Untestable(`not seen: the client sent no ${kind}`)
    const others = items.flatMap(({ recorded: { request } }) => [
      ...Object.keys(requestObject(request)).filter((name) => !['address', 'transaction'].includes(name)),
      ...Object.keys(transactionOf(request))
        .filter((name) => !['abi', 'signature', 'nonce'].includes(name))
        .map((name) => `transaction.${name}`),
    ])
    t.observe(others.length === 0 ? 'none' : [...new Set(others)].join(', '))
  }),
]
