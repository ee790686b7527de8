import { setImmediate as nextTurn } from 'node:timers/promises'

let last = Promise.resolve()

/**
 * Waits for a turn of the event loop that belongs to one caller of this function. What takes milliseconds for one request
 * waits here first: when hundreds of such requests are ready at once, all others are served between them.
 */
export const ownTurn = (): Promise<void> => (last = last.then(() => nextTurn()))
