import { UsageError } from '../usage-error.ts'

/**
 * Where the keys are put and which. The document says that the request is repeated "with pagination options" and does
 * not show where these sit, nor the third of the three parameters that it says are required.
 */
export interface WayOfPaging {
  /**
   * `filter`: among the members of the filter; `second`: an object as second parameter; `second.<name>`: under a name in
   * that; any other: under this name in the filter.
   */
  readonly container: string
  /** The name of a third key, taken from the last entry as well; `name=value`: with this value; absent: two keys. */
  readonly thirdKey?: string
}

/**
 * Reads `<container>[:<third key>]`, as `paging_options:transactionIndex`.
 *
 * @throws UsageError
 */
export function parseWayOfPaging(text: string): WayOfPaging {
  const [, container, thirdKey] = /^([\w-]+(?:\.[\w-]+)?)(?::([\w-]+(?:=.*)?))?$/.exec(text) ?? []
  if (container === undefined || (container.includes('.') && !container.startsWith('second.'))) {
    throw new UsageError(`"${text}" is no way of paging: <container>[:<third key>], as paging_options:transactionIndex`)
  }
  return { container, ...(thirdKey === undefined ? {} : { thirdKey }) }
}
