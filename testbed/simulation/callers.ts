import { computeAddress, id } from 'ethers'
import type { RelayRequest } from '../../server/core/define.ts'
import { ServiceError } from '../../server/core/errors.ts'
import {
  hexBytes,
  lsp25Form,
  relayDigest,
  toHex,
  serializeSignature,
  signDigest,
} from '../../server/ethereum/signature.ts'
import { permissionBits } from '../../server/ethereum/contracts.ts'
import { CHAIN_ID } from './chain.ts'
import { callName, payloadOf, type ModelProfile } from './contracts.ts'
import type { CallPlan, Plan, Sending } from './plan.ts'
import type { Random } from './random.ts'
import type { SimulatedServer } from './server.ts'
import { EPOCH_MS, type WorldTime } from './world-time.ts'

/** One answer that a caller received about a call, or the fact that it received none. */
export type Heard =
  | { readonly kind: 'accepted'; readonly hash: string; readonly atMs: number }
  | {
      readonly kind: 'refused'
      readonly code: string
      readonly mayBeSent: boolean
      /** Whether a relay may accept the same call later. */
      readonly isPassing: boolean
      /** When the request was sent. */
      readonly sentAtMs: number
      readonly atMs: number
    }
  | { readonly kind: 'nothing'; readonly atMs: number }

/** A signed call, and all answers about it. */
export interface SignedCall {
  readonly plan: CallPlan
  readonly profile: ModelProfile
  /** The controller, checksummed. */
  readonly signer: string
  /** See `callName`. */
  readonly name: string
  readonly request: RelayRequest
  /** Unix seconds; undefined: the call is always valid. */
  readonly validUntil: number | undefined
  readonly heard: Heard[]
}

const ID_BITS = 128n
/** Refusals after which a relay may accept the same call later. */
const PASSING = new Set(['UPSTREAM_UNAVAILABLE', 'SIGNERS_UNAVAILABLE', 'RATE_LIMITED', 'NONCE_GAP', 'QUOTA_EXCEEDED'])
const MOST_TRIES = 12
/** The most tries of a call that is refused with `NONCE_GAP`, because the call before it may never come. */
const MOST_GAPS = 3

/** Every run uses the same keys, because making keys takes longer than the rest of a run's start. */
const keyOf = (name: string) => id(`touchstone simulation, ${name}`)
const controllerKeys = Array.from({ length: 3 }, (_, index) => keyOf(`controller ${index}`))
export const controllers = controllerKeys.map((key) => computeAddress(key))
export const signerKeys = Array.from({ length: 3 }, (_, index) => keyOf(`account ${index}`))
export const signerAddresses = signerKeys.map((key) => computeAddress(key))
/** The index of the controller without EXECUTE_RELAY_CALL. */
const NO_RELAY = 2
const addressOf = (name: string) => computeAddress(keyOf(name))
const everyProfile: readonly ModelProfile[] = Array.from({ length: 2 }, (_, index) => ({
  address: addressOf(`profile ${index}`),
  keyManager: addressOf(`key manager ${index}`),
  successor: addressOf(`successor of key manager ${index}`),
  controllers: new Map(
    controllers.map((address, at) => [
      address,
      at === NO_RELAY ? permissionBits.SIGN : permissionBits.SIGN | permissionBits.EXECUTE_RELAY_CALL,
    ]),
  ),
}))

export const profilesOf = ({ world }: Plan): readonly ModelProfile[] => everyProfile.slice(0, world.profiles)

export function signCall(plan: CallPlan): SignedCall {
  const profile = everyProfile[plan.profile] as ModelProfile
  const key = controllerKeys[plan.cheat === 'no-permission' ? NO_RELAY : plan.controller] ?? ''
  const nonce = (plan.channel << ID_BITS) | plan.id
  const beginsSeconds = Math.floor((EPOCH_MS + (plan.sendings[0]?.atMs ?? 0)) / 1000)
  const validSeconds = plan.cheat === 'expired' ? -60 : plan.validSeconds
  const validUntil = validSeconds === null ? undefined : beginsSeconds + validSeconds
  const validityTimestamps = BigInt(validUntil ?? 0)
  const payload = payloadOf(plan.number, plan.effect)
  const keyManager = plan.isForSuccessor ? profile.successor : profile.keyManager
  const message = { keyManager, chainId: CHAIN_ID, nonce, validityTimestamps, payload }
  const signed = plan.cheat === 'signature' ? { ...message, chainId: CHAIN_ID + 1n } : message
  const signature = serializeSignature(signDigest(relayDigest(signed, lsp25Form), hexBytes(key)))
  const signer = computeAddress(key)
  return {
    plan,
    profile,
    signer,
    name: callName(keyManager, signer, message),
    request: { address: profile.address, transaction: { abi: payload, signature, nonce, validityTimestamps } },
    validUntil,
    heard: [],
  }
}

/** The same request in another spelling: digits in upper case, v of 0 or 1, or a signature of 64 bytes (EIP-2098). */
function spelt({ address, transaction }: RelayRequest, spelling: number): RelayRequest {
  const { abi, signature } = transaction
  const v = signature.endsWith('1b') ? 0 : 1
  const short = hexBytes(signature.slice(0, -2))
  if (v === 1) short[32] = (short[32] ?? 0) | 0x80
  const spellings = [signature, `${signature.slice(0, -2)}0${v}`, toHex(short)]
  return {
    address: spelling % 2 === 0 ? address : address.toLowerCase(),
    transaction: {
      ...transaction,
      abi: spelling === 3 ? `0x${abi.slice(2).toUpperCase()}` : abi,
      signature: spellings[spelling] ?? signature,
    },
  }
}

export interface CallersOptions {
  readonly time: WorldTime
  readonly random: Random
  readonly servers: readonly SimulatedServer[]
}

class Lost extends Error {}

/** Sends calls as they are planned, and records the answers. */
export class Callers {
  readonly #options: CallersOptions
  /** Callers that have not finished. */
  active = 0

  constructor(options: CallersOptions) {
    this.#options = options
  }

  plan(call: SignedCall): void {
    for (const sending of call.plan.sendings) {
      this.active++
      this.#options.time.at(sending.atMs, undefined, () => this.#send(call, sending, 1))
    }
  }

  #send(call: SignedCall, sending: Sending, tries: number): void {
    const { time, random, servers } = this.#options
    const server = servers[(sending.server + tries - 1) % servers.length] as SimulatedServer
    const request = spelt(call.request, sending.spelling)
    const sentAtMs = time.nowMs
    const name = `call ${call.plan.number}`
    const isCut = sending.patienceMs < Infinity && tries === 1
    let isOver = false
    const hear = (heard: Heard) => {
      if (isOver) return
      isOver = true
      call.heard.push(heard)
      time.tell(`${name} at ${server.name}: ${describe(heard)}`)
      this.#goOn(call, sending, tries, heard)
    }
    const wayMs = () => random.between(0.2, 5)
    if (isCut) time.after(sending.patienceMs, undefined, () => hear({ kind: 'nothing', atMs: time.nowMs }))
    time.after(wayMs(), undefined, () => {
      server
        .execute(request, () => new Lost())
        .then(
          (hash) => time.after(wayMs(), undefined, () => hear({ kind: 'accepted', hash, atMs: time.nowMs })),
          (error: unknown) => time.after(wayMs(), undefined, () => hear(refusal(error, sentAtMs, time.nowMs))),
        )
    })
  }

  #goOn(call: SignedCall, sending: Sending, tries: number, heard: Heard): void {
    const { time, random } = this.#options
    const isOpen = heard.kind === 'nothing' || (heard.kind === 'refused' && (heard.mayBeSent || heard.isPassing))
    const most = heard.kind === 'refused' && heard.code === 'NONCE_GAP' ? MOST_GAPS : MOST_TRIES
    if (!isOpen || !sending.isStubborn || tries >= most) return void this.active--
    time.after(random.between(300, 4_000), undefined, () => this.#send(call, sending, tries + 1))
  }
}

function refusal(error: unknown, sentAtMs: number, atMs: number): Heard {
  if (error instanceof Lost) return { kind: 'nothing', atMs }
  const isKnown = error instanceof ServiceError
  const code = isKnown ? error.code : `${(error as Error).name}: ${(error as Error).message}`
  return {
    kind: 'refused',
    code,
    mayBeSent: isKnown && error.broadcast,
    isPassing: PASSING.has(code),
    sentAtMs,
    atMs,
  }
}

function describe(heard: Heard): string {
  switch (heard.kind) {
    case 'accepted':
      return `accepted as ${heard.hash.slice(0, 10)}`
    case 'refused':
      return `refused, ${heard.code}${heard.mayBeSent ? ', may be sent' : ''}`
    case 'nothing':
      return 'no answer'
  }
}
