import { concat, toBeHex, zeroPadValue } from 'ethers'
import lsp6 from '../generated/lsp6.json' with { type: 'json' }

const { permissions: PERMISSIONS, dataKeys: LSP6DataKeys } = lsp6

/** A controller of a profile: who it is and what it may do (LSP6). */
export interface Controller {
  readonly address: string
  /** Permission bits. */
  readonly permissions: bigint
}

/** Every permission that LSP6 knows; its own ALL_PERMISSIONS leaves out re-entrancy and delegate calls. */
const everyPermission = Object.values(PERMISSIONS).reduce((all, permission) => all | BigInt(permission), 0n)

/** The permissions of the fixture's controllers. */
export const permissionSets = {
  full: everyPermission,
  noSign: everyPermission & ~BigInt(PERMISSIONS.SIGN),
  noRelay: everyPermission & ~BigInt(PERMISSIONS.EXECUTE_RELAY_CALL),
} as const

/**
 * The ERC725Y data that makes these the controllers of a new profile: `AddressPermissions[]` with its length and its
 * elements, and `AddressPermissions:Permissions:<address>` for each (LSP6).
 *
 * @returns arguments for `setDataBatch(bytes32[],bytes[])`
 */
export function controllerData(controllers: readonly Controller[]): { keys: string[]; values: string[] } {
  const list = LSP6DataKeys['AddressPermissions[]']
  const entries: (readonly [key: string, value: string])[] = [[list.length, toBeHex(controllers.length, 16)]]
  controllers.forEach(({ address, permissions }, index) => {
    entries.push([concat([list.index, toBeHex(index, 16)]), address])
    entries.push([permissionsKey(address), toBeHex(permissions, 32)])
  })
  return { keys: entries.map(([key]) => key), values: entries.map(([, value]) => value) }
}

/** The data key `AddressPermissions:Permissions:<address>` (LSP6). */
export function permissionsKey(address: string): string {
  return concat([LSP6DataKeys['AddressPermissions:Permissions'], zeroPadValue(address, 20)])
}
