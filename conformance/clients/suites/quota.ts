import { editionTerms } from '../../lib/target.ts'
import { isAddress, isHex, isObject, pathOf, type QuotaRequest, quotaRequests, readInteger } from '../requests.ts'
import { clientClause, type ClientContext, judgeEach, show, type Wrong } from '../recording.ts'
import type { QuotaReading } from '../../lib/relay/message.ts'

const kind = 'request to POST /quota'

/** Seconds since 1970 reach this in the year 5138; milliseconds have been beyond it since 1973. */
const leastMilliseconds = 10n ** 11n
/** By which the clocks of two programs on one machine, and rounding to seconds, may differ. */
const slackSeconds = 1

const judgeRequests = (t: ClientContext, wrongOf: (request: QuotaRequest) => Wrong | undefined): void =>
  judgeEach(t, kind, quotaRequests(t.recording), wrongOf)

/** Those with a timestamp. */
const timed = ({ recording }: ClientContext) =>
  quotaRequests(recording).filter(({ body }) => body['timestamp'] !== undefined)

/** Those with a timestamp that is a number in whatever type. */
const numbered = (t: ClientContext) =>
  timed(t).flatMap((request) => {
    const read = readInteger(request.body['timestamp'])
    return read ? [{ ...request, timestamp: read.value }] : []
  })

/** Those whose signature was judged. */
const signed = ({ recording }: ClientContext) =>
  quotaRequests(recording).flatMap((request) =>
    request.recorded.quota ? [{ ...request, quota: request.recorded.quota }] : [],
  )

/** Those that a controller signed, over whatever message. */
const signedByController = (t: ClientContext) => signed(t).filter(({ quota }) => quota.signer !== undefined)

const messages: Readonly<Record<QuotaReading, string>> = {
  'personal message': 'keccak256 of address and timestamp in solidity packing, as a personal message',
  text: 'the text <address>:<timestamp> as a personal message, with the address as the body spells it',
  'raw digest': 'the packed hash, without the personal message',
  'controller address': 'the address of the controller, and the timestamp',
}

function judgeHash(t: ClientContext): void {
  const wanted = editionTerms[t.edition].quotaMessage
  judgeEach(t, `${kind} that a controller signed`, signedByController(t), ({ quota: { instead, signer, reading } }) => {
    if (reading === wanted || instead?.clause === 'client.quota.bound-to-message') return undefined
    const actual = `${instead?.what ?? messages['personal message']}, signed by ${signer}`
    return { message: 'the signature is over something else', expected: messages[wanted], actual }
  })
}

function judgeBound(t: ClientContext): void {
  judgeEach(t, `${kind} that a controller signed`, signedByController(t), ({ quota: { instead, signer } }) => {
    if (instead?.clause !== 'client.quota.bound-to-message') return undefined
    const expected = 'the address and the timestamp of the request'
    return { message: 'the signature is over something else', expected, actual: `${instead.what}, signed by ${signer}` }
  })
}

const wrongPost =
  (path: string) =>
  ({ recorded, recorded: { request } }: QuotaRequest): Wrong | undefined => {
    const isThere = request.method === 'POST' && pathOf(recorded) === path
    if (isThere && isObject(request.json)) return undefined
    return {
      message: isThere ? 'the body is no JSON object' : 'the request is sent to another place',
      expected: `POST ${path} with one JSON object`,
      actual: isThere ? request.text.slice(0, 200) : `${request.method} ${request.path}`,
    }
  }

function wrongMembers({ body }: QuotaRequest): Wrong | undefined {
  const { address, timestamp, signature } = body
  const wrong = [
    ...(isAddress(address) ? [] : [`address: ${show(address)}`]),
    ...(timestamp === undefined ? ['timestamp: absent'] : []),
    ...(isHex(signature) ? [] : [`signature: ${show(signature)}`]),
  ]
  if (wrong.length === 0) return undefined
  return {
    message: 'a member is absent or of another form',
    expected: 'address, timestamp, signature',
    actual: wrong.join(', '),
  }
}

function wrongSeconds({ timestamp }: { timestamp: bigint }): Wrong | undefined {
  if (timestamp < leastMilliseconds) return undefined
  return { message: 'timestamp is not in seconds', expected: 'a time in seconds', actual: `${timestamp}` }
}

/** What POST /quota is sent. */
export default [
  clientClause('client.quota.post', 'each request goes to POST /quota, with an object', (t) =>
    judgeRequests(t, wrongPost(`${editionTerms[t.edition].pathPrefix}/quota`)),
  ),

  clientClause('client.quota.members', 'each body has every member', (t) => judgeRequests(t, wrongMembers)),

  clientClause('client.quota.timestamp-integer', 'each timestamp is of integer type', (t) =>
    judgeEach(t, `${kind} with a timestamp`, timed(t), ({ body: { timestamp } }) =>
      readInteger(timestamp)?.form === 'integer'
        ? undefined
        : { message: 'timestamp is of no integer type', expected: 'an integer', actual: show(timestamp) },
    ),
  ),

  clientClause('client.quota.timestamp-seconds', 'each timestamp is in seconds', (t) =>
    judgeEach(t, `${kind} with a number as timestamp`, numbered(t), wrongSeconds),
  ),

  clientClause('client.quota.window', 'each timestamp is that of its arrival', (t) => {
    const { halfWindowSeconds, outsideSeconds } = editionTerms[t.edition]
    const allowedSeconds = halfWindowSeconds ?? outsideSeconds
    const items = numbered(t).filter((item) => wrongSeconds(item) === undefined)
    judgeEach(t, `${kind} with a timestamp in seconds`, items, ({ timestamp, recorded: { arrivedMs } }) => {
      const offSeconds = Number(timestamp) - arrivedMs / 1000
      if (Math.abs(offSeconds) <= allowedSeconds + slackSeconds) return undefined
      return {
        message: 'timestamp is not the current time',
        expected: `the time of the arrival, within ${allowedSeconds} seconds`,
        actual: `${Math.abs(offSeconds).toFixed(1)} seconds ${offSeconds < 0 ? 'before' : 'after'} it`,
      }
    })
  }),

  clientClause('client.quota.hash', 'each signature is over the hash of the document', judgeHash),

  clientClause(
    'client.quota.bound-to-message',
    'each signature is over the address and the time of its request',
    judgeBound,
  ),

  clientClause('client.quota.sign-permission', 'each signer holds SIGN', (t) =>
    judgeEach(t, `${kind} whose members can be read`, signed(t), ({ quota: { signer, instead, holdsSign } }) => {
      if (instead || holdsSign) return undefined
      const expected = 'a signature of a controller with SIGN on the profile at address'
      if (signer !== undefined)
        return { message: 'the controller that signed does not hold SIGN', expected, actual: signer }
      return {
        message: 'the signature leads to no controller of the profile, over any message that clients are known to sign',
        expected,
        actual: 'a signature of somebody else, or over something else',
      }
    }),
  ),
]
