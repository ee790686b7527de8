import type { ClauseId, QuotaResponse, RpcMethod, RpcMethodParams, RpcMethodResult } from '../../specs/index.ts'

/**
 * The services that plugins can name in `needs`. The core knows none of them: each file under `services/` adds its own by
 * declaration merging (`declare module './define.ts' { interface Services { clock: Clock } }`).
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- filled by declaration merging
export interface Services {}

export type ServiceName = keyof Services

/** The plugin kinds; each is a folder under `plugins/` and under `specs/schemas/`. */
export type PluginKind = 'rpc-method' | 'relay' | 'quota'

/** A JSON Schema 2020-12 document. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** What every plugin has; the whole manifest is validated against `specs/schemas/plugin/<kind>.json` at start. */
interface PluginBase<Needs extends ServiceName> {
  /** The clauses of the documents that this plugin implements; empty for an extension. */
  readonly clauses: readonly ClauseId[]
  /** The services that the handlers receive. */
  readonly needs: readonly Needs[]
  /** JSON Schema of the plugin's options; absent: it takes none. */
  readonly options?: JsonSchema
}

/** One JSON-RPC method of `POST /api/eth-rpc`. */
export interface RpcMethodPlugin<
  Needs extends ServiceName = never,
  Params extends readonly unknown[] = readonly unknown[],
  Options = unknown,
> extends PluginBase<Needs> {
  readonly kind: 'rpc-method'
  /** The method's name, the same as the file's. */
  readonly method: string
  /** `{ properties: { params, result } }`; absent: found as `specs/schemas/rpc-method/<method>.json`. */
  readonly schema?: JsonSchema
  /**
   * @param params positional, already valid against the schema's `params`
   * @returns the result; validated against the schema's `result` before it leaves
   */
  handle(params: Params, services: Pick<Services, Needs>, options: Options): unknown
  /**
   * A hint for a caller whose params break the schema, when the error alone would not lead to the right call.
   * @param params not valid, as they came
   */
  readonly explain?: (params: readonly unknown[]) => string | undefined
  /** The most calls of one address that run at a time, for a method that is dear; further ones of it wait. Absent: no limit. */
  readonly concurrentCallsPerCaller?: number
}

/** A profile and the key manager that owns it, as found on the chain. */
export interface ResolvedProfile {
  /** Checksummed address of the profile (LSP0). */
  readonly address: string
  /** Checksummed address of its owner, the key manager (LSP6); `target()` of it is the profile. */
  readonly keyManager: string
  /** The one of the plugin's `keyManagerInterfaceIds` that the key manager supports (ERC-165). */
  readonly interfaceId: string
}

/** Body of `POST /execute`, already valid against `specs/schemas/relay/execute.json`; integers are exact. */
export interface RelayRequest {
  readonly address: string
  readonly transaction: {
    /** Call data for the profile: the payload that the key manager executes. */
    readonly abi: string
    readonly signature: string
    readonly nonce: bigint
    /** LSP25: `start << 128 | end`, in seconds; 0 is always valid. */
    readonly validityTimestamps: bigint
  }
}

/** A relay call that is authenticated: its signer is known, and what is to be sent. */
export interface RelayCall {
  readonly profile: string
  readonly keyManager: string
  /** Checksummed address of the controller that signed. */
  readonly signer: string
  readonly nonce: bigint
  readonly validityTimestamps: bigint
  readonly payload: string
  /** Call data for the key manager: `executeRelayCall(…)` with the normalised signature. */
  readonly callData: string
  /** Call data for the key manager: the signer's next nonce in the channel of this one. */
  readonly nonceCallData: string
  /**
   * The signers under the usual mistakes in signing. It is called when the signer is no controller: a mistake under which a
   * controller has signed is named in the error.
   */
  misreadings(): readonly { readonly mistake: string; readonly signer: string }[]
  /** Id of the HTTP request, for the log. */
  readonly requestId?: string
  /**
   * Called when a controller is known to have signed, before anything is stored.
   *
   * @throws ServiceError why the call is refused
   */
  readonly admit?: () => Promise<void>
}

/** One way of relaying a call: a version of the key manager. */
export interface RelayPlugin<Needs extends ServiceName = never, Options = unknown> extends PluginBase<Needs> {
  readonly kind: 'relay'
  /** The plugin's name, the same as the file's. */
  readonly id: string
  /** Where it is served, e.g. `/execute`; several plugins may share a path. */
  readonly path: string
  /** `{ properties: { request, response } }`; absent: found as `specs/schemas/relay<path>.json`. */
  readonly schema?: JsonSchema
  /** ERC-165 ids of the key managers it speaks to; the first plugin that knows the profile's key manager serves. */
  readonly keyManagerInterfaceIds: readonly string[]
  /**
   * Authenticates the request. Sends nothing. Before a request is refused, it is also called with key managers that the
   * profile had before, to find out whether the same call was accepted then.
   * @throws ServiceError INVALID_SIGNATURE, INVALID_REQUEST
   */
  verify(
    request: RelayRequest,
    profile: ResolvedProfile,
    services: Pick<Services, Needs>,
    options: Options,
  ): Promise<RelayCall>
  /**
   * Executes a verified call, or answers with what became of the same call before.
   * @returns the hash of the transaction that carries the call
   * @throws ServiceError; `broadcast` is false whenever no transaction was sent
   */
  submit(call: RelayCall, services: Pick<Services, Needs>, options: Options): Promise<{ transactionHash: string }>
}

/** What a profile has used and may use, exactly, in the unit of its model (wei, gas or count). */
export interface QuotaAccount {
  readonly profile: string
  /** Limit per period; for pay-as-you-go, the balance topped up so far. */
  readonly allowance: bigint
  /** Used since the last reset, reservations counted as used. */
  readonly used: bigint
  /** Unix seconds of the next reset; null: never. */
  readonly resetAtSeconds: bigint | null
}

/** What an account begins with. */
export type OpenedAccount = Pick<QuotaAccount, 'allowance' | 'resetAtSeconds'>

/** Answer of `POST /quota`. */
export type Quota = QuotaResponse

/** One business model: what a relay costs and how much a profile may spend. Exact integers inside, numbers outside. */
export interface QuotaPlugin<Needs extends ServiceName = never, Options = unknown> extends PluginBase<Needs> {
  readonly kind: 'quota'
  /** The model's name, the same as the file's. */
  readonly id: string
  readonly unit: Quota['unit']
  /**
   * The allowance of a new account, or of a new period, and the next reset, seen from `nowSeconds`. It may ask the chain; a
   * call that needs an answer is refused with 503 when it fails, or takes longer than five seconds, and nothing is reserved.
   *
   * @param profile checksummed address
   */
  open(
    nowSeconds: number,
    services: Pick<Services, Needs>,
    options: Options,
    profile: string,
  ): OpenedAccount | Promise<OpenedAccount>
  /** What the account has left, as `POST /quota` shows it. It may ask the chain, within five seconds. */
  remaining(account: QuotaAccount, services: Pick<Services, Needs>, options: Options): Quota | Promise<Quota>
  /** The most that a transaction with these limits can cost. It is computed under locked rows, so it cannot ask anybody. */
  reserve(
    limits: { readonly gasLimit: bigint; readonly maxFeePerGasWei: bigint },
    services: Pick<Services, Needs>,
    options: Options,
  ): bigint
  /**
   * What the mined transaction did cost; never more than was reserved for it.
   *
   * @param receipt.dataFeeWei what a rollup took beside the gas, for the transaction's data on another chain (`l1Fee`, as
   *   chains of the OP Stack name it); 0 on other chains
   */
  settle(
    receipt: { readonly gasUsed: bigint; readonly effectiveGasPriceWei: bigint; readonly dataFeeWei: bigint },
    services: Pick<Services, Needs>,
    options: Options,
  ): bigint
}

export type Plugin = RpcMethodPlugin | RelayPlugin | QuotaPlugin

/**
 * Declares a JSON-RPC method.
 *
 * @example
 * export default defineRpcMethod({
 *   method: 'eth_chainId',
 *   clauses: ['eth-rpc.eth_chainId.success'],
 *   needs: ['chain'],
 *   handle: (_params, { chain }) => chain.id(),
 * })
 */
export function defineRpcMethod<
  const Method extends string,
  Needs extends ServiceName,
  Options,
  Params extends readonly unknown[] = ParamsOf<Method>,
>(
  plugin: Omit<RpcMethodPlugin<Needs, Params, Options>, 'kind' | 'method' | 'handle'> & {
    readonly method: Method
    handle(params: Params, services: Pick<Services, Needs>, options: Options): ResultOf<Method>
  },
): RpcMethodPlugin<Needs, Params, Options> {
  return { kind: 'rpc-method', ...plugin }
}

/** The parameters of a method that the document lists are those of its schema. */
type ParamsOf<Method extends string> = Method extends RpcMethod ? RpcMethodParams[Method] : readonly unknown[]
type ResultOf<Method extends string> = Method extends RpcMethod
  ? RpcMethodResult[Method] | Promise<RpcMethodResult[Method]>
  : unknown

/** Declares a relay: how calls for one version of the key manager are verified and submitted. */
export function defineRelay<Needs extends ServiceName, Options>(
  plugin: Omit<RelayPlugin<Needs, Options>, 'kind'>,
): RelayPlugin<Needs, Options> {
  return { kind: 'relay', ...plugin }
}

/** Declares a quota model. */
export function defineQuota<Needs extends ServiceName, Options>(
  plugin: Omit<QuotaPlugin<Needs, Options>, 'kind'>,
): QuotaPlugin<Needs, Options> {
  return { kind: 'quota', ...plugin }
}
