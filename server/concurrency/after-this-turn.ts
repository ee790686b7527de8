const planned: (() => void)[] = []

/**
 * Calls `task` in the next turn of the event loop. Most of what a server does for a request is over by then, so that a limit of its time
 * needs no timer: to set one and clear it costs two microseconds.
 */
export function afterThisTurn(task: () => void): void {
  if (planned.push(task) > 1) return
  setImmediate(() => {
    for (const one of planned.splice(0)) one()
  })
}
