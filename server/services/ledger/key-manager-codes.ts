import { keccak256 } from 'ethers'
import { UNKNOWN_CODE } from './budgets.ts'
import type { Upstream } from '../node/upstream.ts'

/** What key managers run. */
export interface KeyManagerCodes {
  /**
   * The hash of the code, where it is known, or `UNKNOWN_CODE`; of a minimal proxy (ERC-1167), that of what it stands for.
   *
   * @throws ServiceError UPSTREAM_UNAVAILABLE
   */
  of(keyManager: string): Promise<string>
}

/** keccak-256 of the published LSP6 contracts' code: as it is deployed, and as proxies stand for it. */
export const publishedCodes: readonly string[] = [
  // @lukso/lsp6-contracts 0.15.5
  '0x1b81a273973bbcb1318754fbf1f57d4e647ef33b6d7b35f94815d3f252343756',
  '0x11c77c789d2595bf8dc7e033357fe9a69fbb9cecc4561c8e914ecd66ed89c0d2',
  // @lukso/lsp-smart-contracts 0.10.3
  '0xf9ac7dc9ba9fc7e07f9583384ffda87e2a2d1a458438e7fc18c32b7ebaae9689',
  '0x0d8d31709889effe2edb3d30c233926e2a4049f04e3c3556510cbeefbd070407',
  // @lukso/lsp-smart-contracts 0.8.1
  '0xc4dfdee75807fd4920839c5f0169b4e82d34b33254ce6af56fbdc752df89d567',
  '0x7f8314bd70065acf05dd3ba6752bb6a72e1514f61cfb930dd2b8dd1ec90bca21',
]

const MINIMAL_PROXY = /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3$/
/** A flood of key managers must not fill the memory. */
const MAX_REMEMBERED = 10_000

/** @param further hashes of code that the operator knows */
export function createKeyManagerCodes(upstream: Upstream, further: readonly string[] = []): KeyManagerCodes {
  const known = new Set([...publishedCodes, ...further.map((hash) => hash.toLowerCase())])
  const remembered = new Map<string, Promise<string>>()

  const codeAt = (address: string) => upstream.request<string>('eth_getCode', [address, 'latest'])

  async function find(keyManager: string): Promise<string> {
    const code = await codeAt(keyManager)
    const [, implementation] = MINIMAL_PROXY.exec(code) ?? []
    const hash = keccak256(implementation === undefined ? code : await codeAt(`0x${implementation}`))
    return known.has(hash) ? hash : UNKNOWN_CODE
  }

  return {
    of: (keyManager) => {
      let found = remembered.get(keyManager)
      if (!found) {
        found = find(keyManager)
        if (remembered.size >= MAX_REMEMBERED) remembered.clear()
        remembered.set(keyManager, found)
        found.catch(() => remembered.delete(keyManager))
      }
      return found
    },
  }
}
