import { hangUp, respond, respondText, type AlteredResponse, type Alteration, type Handler } from '../define.ts'
import { bodyOf } from './relay.ts'

/** How a request is refused: whatever the reference server says is put in this form. */
export type Refusal = (refused: AlteredResponse) => AlteredResponse | Promise<AlteredResponse>

/** Whether POST /execute or POST /quota of the reference server refused; a rate limit is none. */
export function isRefusal({ status }: AlteredResponse): boolean {
  return status >= 400 && status !== 429
}

/** Puts the refusals of POST /execute or POST /quota in another form. */
export function refuseBy(form: Refusal): Handler {
  return async (request, forward) => {
    const response = await forward(request)
    return isRefusal(response) ? form(response) : response
  }
}

/** A relay whose refusals have another form, at both of its endpoints. */
export function refusesBy(form: Refusal): Pick<Alteration, 'execute' | 'quota'> {
  return { execute: refuseBy(form), quota: refuseBy(form) }
}

/** Closes the connection instead of refusing. */
export const byHangingUp: Refusal = () => hangUp

/** The same status for every refusal. */
export function byStatus(status: number, json: unknown = { message: 'refused' }): Refusal {
  return () => respond(status, json)
}

/** The refusal's own status with another body. */
export function byBody(text: string, contentType?: string): Refusal {
  return ({ status }) => respondText(status, text, contentType === undefined ? {} : { 'content-type': contentType })
}

/**
 * Puts the errors of single JSON-RPC requests in another form. Batches pass.
 *
 * @param form gets the error object and the request's id
 */
export function rpcErrorsBy(
  form: (error: { readonly code: number; readonly message: string }, id: unknown) => AlteredResponse,
): Handler {
  return async (request, forward) => {
    const response = await forward(request)
    const { json } = response
    if (typeof json !== 'object' || json === null || !('error' in json)) return response
    const { error } = json as { error: { code: number; message: string } }
    return form(error, bodyOf(request)['id'] ?? null)
  }
}
