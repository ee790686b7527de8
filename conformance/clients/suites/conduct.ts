import { Fault, Untestable } from '../../lib/outcome.ts'
import { transactionOf } from '../../altered/lib/relay.ts'
import {
  executeRequests,
  haveSameNonce,
  isSameCall,
  readInteger,
  type SignedCall,
  signedCalls,
  toldHash,
} from '../requests.ts'
import {
  clientClause,
  type ClientContext,
  judgeEach,
  type Recorded,
  type Recording,
  show,
  type Wrong,
} from '../recording.ts'

const kind = 'call to POST /execute that a controller signed rightly'

/** A request may overtake another one on its way by this much. */
const overtakingMs = 250
/** Timers of this machine are this exact. */
const timerMs = 50

const isBefore = (a: Recorded, b: Recorded): boolean => a.answeredMs <= b.arrivedMs

/** The nonces from `next` up to the one before `nonce` that no call of the client uses. */
function missingBefore(call: SignedCall, calls: readonly SignedCall[]): bigint | undefined {
  const { nonce, facts } = call
  for (let each = facts.nextNonce; each < nonce; each++) {
    if (!calls.some((other) => haveSameNonce({ ...call, nonce: each }, other))) return each
  }
  return undefined
}

function wrongNonce(calls: readonly SignedCall[]) {
  return (call: SignedCall): Wrong | undefined => {
    const { nonce, facts } = call
    const earlier = calls.slice(0, calls.indexOf(call)).filter((other) => haveSameNonce(call, other))
    if (earlier.some((other) => isSameCall(call, other))) return undefined
    const expected = `the nonce ${facts.nextNonce}, which the key manager tells for ${facts.signer} in this channel`
    const taken = earlier.find((other) => toldHash(other) !== undefined && isBefore(other.recorded, call.recorded))
    if (taken)
      return { message: 'the nonce is that of another call, which the relay had taken', expected, actual: `${nonce}` }
    // After a refusal or a lost answer, another call may take the place of the first.
    if (earlier.length > 0) return undefined
    if (nonce < facts.nextNonce) return { message: 'the nonce was used before', expected, actual: `${nonce}` }
    const missing = missingBefore(call, calls)
    if (missing === undefined) return undefined
    return {
      message: `the nonce is ahead, and no call of the client has the nonce ${missing}`,
      expected,
      actual: `${nonce}`,
    }
  }
}

/** Calls whose channel has other calls too: only there is an order. */
function ordered(calls: readonly SignedCall[]): SignedCall[] {
  const isBeside = (a: SignedCall, b: SignedCall): boolean =>
    a.channel === b.channel && a.facts.signer === b.facts.signer && a.nonce !== b.nonce
  return calls.filter((call) => calls.some((other) => isBeside(call, other)))
}

function wrongOrder(calls: readonly SignedCall[]) {
  return (call: SignedCall): Wrong | undefined => {
    const earlier = calls
      .slice(0, calls.indexOf(call))
      .filter(({ channel, facts }) => channel === call.channel && facts.signer === call.facts.signer)
    if (earlier.some(({ nonce }) => nonce === call.nonce)) return undefined
    const later = earlier.find(
      ({ nonce, recorded }) => nonce > call.nonce && recorded.answeredMs + overtakingMs <= call.recorded.arrivedMs,
    )
    if (!later) return undefined
    return {
      message: 'the client waited for the answer to a later call of the channel before it sent this one',
      expected: `the nonce ${call.nonce} before the nonce ${later.nonce}`,
      actual: `the nonce ${call.nonce} came ${call.recorded.arrivedMs - later.recorded.answeredMs} ms after the answer to ${later.nonce}`,
    }
  }
}

/** Calls with validityTimestamps: the member may be left out. */
const limited = ({ recording }: ClientContext) =>
  executeRequests(recording).filter(({ recorded: { request, call } }) => {
    const { validityTimestamps } = transactionOf(request)
    return call !== undefined && validityTimestamps !== undefined && validityTimestamps !== null
  })

function wrongWindow({
  recorded: { call, arrivedMs, request },
}: ReturnType<typeof limited>[number]): Wrong | undefined {
  const { validityTimestamps } = transactionOf(request)
  const read = readInteger(validityTimestamps)
  if (read?.form === 'rounded') return undefined
  const actual = show(validityTimestamps)
  const expected = 'start << 128 | end in Unix seconds: the end after the start, and after now; zero for always'
  if (!read) return { message: 'validityTimestamps is no number', expected, actual }
  const [start, end] = [read.value >> 128n, read.value & (2n ** 128n - 1n)]
  if (end !== 0n && end < start) return { message: 'the window ends before it starts', expected, actual }
  const nowSeconds = Math.min(call?.chainSeconds ?? 0, Math.floor(arrivedMs / 1000))
  if (end !== 0n && end < BigInt(nowSeconds))
    return { message: 'the window was over when the call arrived', expected, actual }
  return undefined
}

/** Calls that were relayed, and whose client was not told a hash. Each is the first of its kind. */
function lostCalls(recording: Recording, calls: readonly SignedCall[]): SignedCall[] {
  return calls.filter(({ recorded: { provoked, served } }) => {
    if (provoked !== 'lost' && provoked !== 'broadcast') return false
    const { transactionHash } = (served?.json ?? {}) as { transactionHash?: string }
    return transactionHash !== undefined && recording.executed.has(transactionHash.toLowerCase())
  })
}

/** Whether the client had this payload executed before: then it may mean to have it executed again. */
const isRepeatedOnPurpose = ({ recording }: ClientContext, calls: readonly SignedCall[], lost: SignedCall): boolean =>
  calls.some(({ payload, recorded }) => payload === lost.payload && recorded.arrivedMs < lost.recorded.arrivedMs) ||
  recording.directExecutions.some(
    ({ payload, blockNumber }) => payload === lost.payload && blockNumber <= lost.recorded.headBlock,
  )

/** Lost calls whose payload tells them from all calls before. */
function tellingLost(t: ClientContext, calls: readonly SignedCall[]): SignedCall[] {
  const lost = lostCalls(t.recording, calls)
  if (lost.length === 0) throw new Untestable('not seen: no call was relayed whose answer was lost')
  const telling = lost.filter((call) => !isRepeatedOnPurpose(t, calls, call))
  if (telling.length === 0)
    throw new Untestable('not seen: each payload was sent before, and may be meant to be sent again')
  return telling
}

function judgeSameCallAgain(t: ClientContext): void {
  const calls = signedCalls(t.recording)
  const lost = tellingLost(t, calls)
  const isAgain = (first: SignedCall) =>
    calls.some((call) => isBefore(first.recorded, call.recorded) && isSameCall(first, call))
  judgeEach(t, kind, lost, (first) => {
    const other = calls.find(
      (call) =>
        isBefore(first.recorded, call.recorded) &&
        call.facts.signer === first.facts.signer &&
        call.payload === first.payload &&
        call.nonce !== first.nonce,
    )
    const known = calls.find((call) => isSameCall(first, call) && toldHash(call) !== undefined)
    if (!other || (known && isBefore(known.recorded, other.recorded))) return undefined
    return {
      message:
        'the answer to a call was lost, and the same payload came again with another nonce: it can be executed twice',
      expected: `the same call, with the nonce ${first.nonce}`,
      actual: `the nonce ${other.nonce}`,
    }
  })
  if (!lost.some(isAgain)) throw new Untestable('not seen: no call was sent again after its answer was lost')
}

function judgeNoSecondWay(t: ClientContext): void {
  const { directExecutions } = t.recording
  judgeEach(t, kind, tellingLost(t, signedCalls(t.recording)), ({ payload, recorded }) => {
    const direct = directExecutions.find((each) => each.payload === payload && each.blockNumber > recorded.headBlock)
    if (!direct) return undefined
    return {
      message: 'the relay had the call executed, and the client executed the same payload itself',
      expected: 'one execution',
      actual: `also ${direct.transactionHash}, in block ${direct.blockNumber}`,
    }
  })
}

/** When Retry-After allows the request again, in Unix milliseconds; undefined: the answer does not say. */
function allowedAtMs({ answer, answeredMs }: Recorded): number | undefined {
  const text = answer.headers['retry-after']
  if (text === undefined) return undefined
  const atMs = /^\d+$/.test(text) ? answeredMs + Number(text) * 1000 : Date.parse(text)
  return Number.isNaN(atMs) ? undefined : atMs
}

function judgeRetryAfter(t: ClientContext): void {
  const calls = signedCalls(t.recording)
  const busy = calls.filter(({ recorded }) => allowedAtMs(recorded) !== undefined)
  if (busy.length === 0) throw new Untestable('not seen: no call was answered with Retry-After')
  const again = busy.flatMap((first) =>
    calls
      .filter((call) => isSameCall(first, call) && isBefore(first.recorded, call.recorded))
      .map(({ recorded }) => ({ recorded, waitMs: (allowedAtMs(first.recorded) ?? 0) - recorded.arrivedMs })),
  )
  if (again.length === 0) throw new Untestable('not seen: no call was sent again after an answer with Retry-After')
  judgeEach(t, kind, again, ({ waitMs }) =>
    waitMs <= timerMs
      ? undefined
      : {
          message: 'the same call came again before Retry-After allowed it',
          expected: 'the call when the time has passed, or later',
          actual: `${waitMs} ms too early`,
        },
  )
}

const credentialHeaders = /^(?:authorization|proxy-authorization|cookie|x-?api-?key|api-?key|x-(?:auth|access)-token)$/i
const credentialParameters = /[?&](?:api[-_]?key|key|token|access[-_]?token|auth)=/i

function credentialsIn({ request: { headers, path } }: Recorded): string[] {
  const inQuery = credentialParameters.exec(path)
  return [
    ...Object.keys(headers).filter((name) => credentialHeaders.test(name)),
    ...(inQuery ? ['a key in the query'] : []),
  ]
}

function judgeNoCredential(t: ClientContext): void {
  const { requests } = t.recording
  const isAsked = (recorded: Recorded): boolean =>
    requests.some((other) => isBefore(other, recorded) && other.answer.headers['www-authenticate'] !== undefined)
  judgeEach(t, 'call to POST /execute', executeRequests(t.recording), ({ recorded }) => {
    const found = credentialsIn(recorded)
    if (found.length === 0 || isAsked(recorded)) return undefined
    return {
      message: 'the call carries a credential that nobody asked for',
      expected: 'the signature alone',
      actual: found.join(', '),
    }
  })
}

function judgeNoKey(t: ClientContext): void {
  const { requests, privateKeys } = t.recording
  const keys = privateKeys.map((key) => key.toLowerCase().replace(/^0x/, '')).filter((key) => key !== '')
  if (requests.length === 0) throw new Untestable('not seen: the client sent no request')
  for (const { request, answer } of requests) {
    const sent = `${request.path} ${Object.values(request.headers).join(' ')} ${request.text}`.toLowerCase()
    if (!keys.some((key) => sent.includes(key))) continue
    throw new Fault('a request holds the private key of a controller', {
      expected: 'signatures alone',
      actual: `${request.method} ${request.path.split('?')[0]}`,
      answer,
    })
  }
}

/** How a client behaves over several requests. */
export default [
  clientClause('client.execute.nonce', 'each nonce is one that the key manager can use', (t) => {
    const calls = signedCalls(t.recording)
    judgeEach(t, kind, calls, wrongNonce(calls))
  }),

  clientClause('client.execute.channel-order', 'the calls of one channel come in their order', (t) => {
    const calls = ordered(signedCalls(t.recording))
    judgeEach(t, 'two calls in one channel', calls, wrongOrder(calls))
  }),

  clientClause('client.execute.validity', 'each window is open when the call arrives', (t) =>
    judgeEach(t, 'call with validityTimestamps', limited(t), wrongWindow),
  ),

  clientClause('client.execute.validity-lossless', 'each window has all of its digits', (t) =>
    judgeEach(t, 'call with validityTimestamps', limited(t), ({ recorded: { request } }) =>
      readInteger(transactionOf(request)['validityTimestamps'])?.form === 'rounded'
        ? {
            message: 'validityTimestamps has lost digits: beyond 2^53 a double rounds',
            expected: 'all digits of start << 128 | end',
            actual: show(transactionOf(request)['validityTimestamps']),
          }
        : undefined,
    ),
  ),

  clientClause(
    'client.execute.same-call-again',
    'a call whose answer was lost comes again as it was',
    judgeSameCallAgain,
  ),

  clientClause(
    'client.execute.no-second-way',
    'no call that was relayed is executed directly as well',
    judgeNoSecondWay,
  ),

  clientClause('client.execute.no-credential', 'no call carries a credential', judgeNoCredential),

  clientClause('client.auth.no-key', 'no request holds a private key', judgeNoKey),

  clientClause('client.auth.credentials', 'credentials of other requests', (t) => {
    const calls = new Set(executeRequests(t.recording).map(({ recorded }) => recorded))
    const others = t.recording.requests.filter((recorded) => !calls.has(recorded))
    if (others.length === 0) throw new Untestable('not seen: the client sent no request but calls to POST /execute')
    t.observe([...new Set(others.flatMap(credentialsIn))].join(', ') || 'none')
  }),

  clientClause('client.limits.retry-after', 'no call comes again before Retry-After allows it', judgeRetryAfter),
]
