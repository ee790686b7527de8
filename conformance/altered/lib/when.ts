import type { AlteredRequest, AlteredResponse, AlteredTools, Handler } from '../define.ts'

/** How often this function was called with this key before. */
export function count({ memory }: AlteredTools, key: string): number {
  const before = Number(memory.get(key) ?? 0)
  memory.set(key, before + 1)
  return before
}

/**
 * Right answers at first, altered ones later.
 *
 * @param answers how many right answers come before
 * @param counts which answers of the server count
 */
export function later(
  answers: number,
  counts: (response: AlteredResponse) => boolean,
  alter: (response: AlteredResponse, request: AlteredRequest, tools: AlteredTools) => AlteredResponse,
): Handler {
  return async (request, forward, tools) => {
    const response = await forward(request)
    if (!counts(response)) return response
    return count(tools, 'later') < answers ? response : alter(response, request, tools)
  }
}

/** Alters every n-th of the answers that count, with n in `every`. */
export function nowAndThen(
  every: number,
  counts: (response: AlteredResponse) => boolean,
  alter: (response: AlteredResponse) => AlteredResponse,
): Handler {
  return async (request, forward, tools) => {
    const response = await forward(request)
    if (!counts(response)) return response
    return count(tools, 'now and then') % every === every - 1 ? alter(response) : response
  }
}

/** Whether an answer of status 200 holds this member. */
export function holds(member: string): (response: AlteredResponse) => boolean {
  return ({ status, json }) => status === 200 && typeof json === 'object' && json !== null && member in json
}
