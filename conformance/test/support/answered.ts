import type { Answer } from '../../lib/answer.ts'

/** An answer whose body is this text, or this value in JSON. */
export function answered(status: number | undefined, body: unknown = '', headers: Answer['headers'] = {}): Answer {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    // A text that is no JSON is an answer too.
  }
  return { ...({} as Answer), status, headers, text, json, failure: undefined }
}
