import type { AlteredRequest, AlteredResponse, AlteredTools, Handler } from '../define.ts'

/** How often it was asked for this key before. */
export function count({ memory }: AlteredTools, key: string): number {
  const before = Number(memory.get(key) ?? 0)
  memory.set(key, before + 1)
  return before
}

/**
 * Right at first, altered later.
 *
 * @param answers so many right answers come before
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

/** Alters each so manieth of the answers that count. */
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

/** Whether a success holds this member. */
export function holds(member: string): (response: AlteredResponse) => boolean {
  return ({ status, json }) => status === 200 && typeof json === 'object' && json !== null && member in json
}
