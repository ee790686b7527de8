import type { AlteredRequest } from '../altered/define.ts'
import { requestObject, transactionOf } from '../altered/lib/relay.ts'
import { hashIn, isAccepted, isHash, normalHash } from '../lib/relay/answers.ts'
import type { CallFacts, Recorded, Recording } from './recording.ts'

/** A number of a body, however it is written. */
interface Integer {
  /**
   * - `integer`: a JSON integer with all of its digits
   * - `string`: a string of decimal digits or hex
   * - `rounded`: a JSON number beyond 2^53 that is no integer literal, as a double is written
   */
  readonly form: 'integer' | 'string' | 'rounded'
  readonly value: bigint
}

/** Reads an unsigned integer in any of its forms; undefined: it is none. */
export function readInteger(value: unknown): Integer | undefined {
  if (typeof value === 'bigint') return value < 0n ? undefined : { form: 'integer', value }
  if (typeof value === 'string') {
    return /^(?:\d+|0x[0-9a-fA-F]+)$/.test(value) ? { form: 'string', value: BigInt(value) } : undefined
  }
  if (typeof value !== 'number' || value < 0 || !Number.isInteger(value)) return undefined
  return { form: Number.isSafeInteger(value) ? 'integer' : 'rounded', value: BigInt(value) }
}

/** Hex of whole bytes. The document does not say whether `0x` stands before it. */
export const isHex = (value: unknown): value is string =>
  typeof value === 'string' && /^(?:0x)?(?:[0-9a-fA-F]{2})*$/.test(value)

export const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^(?:0x)?[0-9a-fA-F]{40}$/.test(value)

/** With `0x`, in lower case. */
export const normalHex = (hex: string): string => `0x${hex.toLowerCase().replace(/^0x/, '')}`

/** The body of a call, as far as it has the form of the document. Absent: the member is not there, or is of another form. */
export interface CallForm {
  readonly address?: string
  readonly payload?: string
  readonly signature?: string
  readonly nonce?: Integer
  /** `start << 128 | end`; zero when the member is not there. */
  readonly validity?: Integer
}

/** Reads the body of POST /execute. Hex is as {@link normalHex} returns it. */
export function readCall(request: AlteredRequest): CallForm {
  const { address } = requestObject(request)
  const { abi, signature, nonce, validityTimestamps } = transactionOf(request)
  const [readNonce, validity] = [readInteger(nonce), readInteger(validityTimestamps ?? 0)]
  return {
    ...(isAddress(address) && { address: normalHex(address) }),
    ...(isHex(abi) && { payload: normalHex(abi) }),
    ...(isHex(signature) && { signature: normalHex(signature) }),
    ...(readNonce && { nonce: readNonce }),
    ...(validity && { validity }),
  }
}

type Json = Readonly<Record<string, unknown>>

/** The path without its query. Repeated slashes count as one, and slashes at the end as none, since a base URL may end with one. */
export const pathOf = ({ request }: Pick<Recorded, 'request'>): string =>
  `/${(request.path.split('?')[0] ?? '')
    .split('/')
    .filter((part) => part !== '')
    .join('/')}`

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** How many parameters the document of JSON-RPC requires of each method that it lists. */
export const requiredParameters: Readonly<Record<string, number>> = {
  eth_blockNumber: 0,
  eth_chainId: 0,
  eth_gasPrice: 0,
  eth_getBalance: 2,
  eth_getLogs: 1,
  eth_getTransactionByHash: 1,
  eth_getTransactionReceipt: 1,
  eth_maxPriorityFeePerGas: 0,
}

/** Whether a request asks for nothing that the documents have: the preflight of a browser (CORS), or a probe whether the server is up. */
const isProbe = ({ request: { method, path, text } }: Recorded): boolean =>
  method === 'OPTIONS' || (['GET', 'HEAD'].includes(method) && text === '' && !path.includes('?'))

/** Whether a body is a call of a method of the document, at whatever path. Other methods may be those of another service. */
const isListedCall = (value: unknown): boolean =>
  isObject(value) && typeof value['method'] === 'string' && Object.hasOwn(requiredParameters, value['method'])

/** A request by which the client means POST /execute, by its path. Of other paths the document says nothing. */
export interface ExecuteRequest {
  readonly recorded: Recorded
  readonly form: CallForm
}

/** A call whose signature is a controller's, and which could be read as a whole. */
export interface SignedCall extends ExecuteRequest {
  readonly facts: CallFacts & Required<Pick<CallFacts, 'signer' | 'nextNonce' | 'keyManager'>>
  readonly nonce: bigint
  readonly channel: bigint
  readonly payload: string
}

/** Whether two calls use one nonce of one controller. */
export const haveSameNonce = (a: SignedCall, b: SignedCall): boolean =>
  a.nonce === b.nonce && a.facts.signer === b.facts.signer && a.facts.keyManager === b.facts.keyManager

/** Whether two requests are one call: the key manager executes it once. The signature may have other bytes. */
export const isSameCall = (a: SignedCall, b: SignedCall): boolean =>
  haveSameNonce(a, b) && a.payload === b.payload && a.form.validity?.value === b.form.validity?.value

/** The hash that the client was told; undefined: none. */
export function toldHash({ recorded: { answer } }: ExecuteRequest): string | undefined {
  const hash = isAccepted(answer) ? hashIn(answer) : undefined
  return isHash(hash) ? normalHash(hash) : undefined
}

export function executeRequests({ requests }: Recording): ExecuteRequest[] {
  return requests
    .filter((recorded) => pathOf(recorded).endsWith('/execute') && !isProbe(recorded))
    .map((recorded) => ({ recorded, form: readCall(recorded.request) }))
}

/** The calls whose signature is over the message of the documents. A call that the client repeats is in the list each time. */
export function signedCalls(recording: Recording): SignedCall[] {
  return executeRequests(recording).flatMap((request) => {
    const { recorded, form } = request
    const { call: facts } = recorded
    const { nonce, payload } = form
    if (!facts || facts.instead || !nonce || payload === undefined) return []
    const { signer, nextNonce, keyManager } = facts
    if (signer === undefined || nextNonce === undefined || keyManager === undefined) return []
    const whole = { ...facts, signer, nextNonce, keyManager }
    return [{ ...request, facts: whole, nonce: nonce.value, channel: nonce.value >> 128n, payload }]
  })
}

/** A request by which the client means POST /quota, by its path. */
export interface QuotaRequest {
  readonly recorded: Recorded
  readonly body: Json
}

export function quotaRequests({ requests }: Recording): QuotaRequest[] {
  return requests
    .filter((recorded) => pathOf(recorded).endsWith('/quota') && !isProbe(recorded))
    .map((recorded) => ({ recorded, body: requestObject(recorded.request) }))
}

/** One call of a JSON-RPC method. A batch holds several. */
export interface RpcCall {
  readonly recorded: Recorded
  readonly envelope: Json
  /** A string, or undefined when `method` is none. */
  readonly method: string | undefined
  /** The parameters; empty when they are left out or no array. */
  readonly params: readonly unknown[]
  /** What the client got for it. */
  readonly result: unknown
  readonly isBatched: boolean
}

/** Requests by which the client means JSON-RPC: by the path, or by the body at another one. */
export function rpcRequests({ requests }: Recording): { readonly recorded: Recorded }[] {
  return requests
    .filter((recorded) => {
      const { json } = recorded.request
      const isListed = Array.isArray(json) ? json.some(isListedCall) : isListedCall(json)
      return !isProbe(recorded) && (isListed || pathOf(recorded).endsWith('/eth-rpc'))
    })
    .map((recorded) => ({ recorded }))
}

function resultFor(answer: unknown, id: unknown): unknown {
  const answers = Array.isArray(answer) ? (answer as unknown[]) : [answer]
  return answers.filter(isObject).find((one) => one['id'] === id)?.['result']
}

/** Every call of a method, in the order of the requests. What is no object is left out. */
export function rpcCalls(recording: Recording): RpcCall[] {
  return rpcRequests(recording).flatMap(({ recorded }) => {
    const { json } = recorded.request
    const isBatched = Array.isArray(json)
    return (isBatched ? (json as unknown[]) : [json]).filter(isObject).map((envelope) => {
      const { method, params, id } = envelope
      return {
        recorded,
        envelope,
        method: typeof method === 'string' ? method : undefined,
        params: Array.isArray(params) ? (params as unknown[]) : [],
        result: resultFor(recorded.answer.json, id),
        isBatched,
      }
    })
  })
}
