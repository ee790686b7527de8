import { getBytes, hashMessage, recoverAddress, solidityPackedKeccak256 } from 'ethers'
import type { Fixture } from '../../../lib/fixture.ts'
import { serve, type TestServer } from '../../support/serve.ts'

interface Body {
  readonly address?: string
  readonly timestamp?: unknown
  readonly signature?: string
}

/**
 * The relay Baton, written anew from how it behaves: milliseconds in /quota, `quota` for what was used, `resetDate` in
 * milliseconds, and calls in the form before LSP25, which no key manager of today takes: "Failed to execute".
 */
export function startBaton({ controllers, profile }: Fixture): Promise<TestServer> {
  function quota({ address = '', timestamp, signature = '' }: Body): unknown {
    if (typeof timestamp !== 'number' || Math.abs(timestamp - Date.now()) > 5000) throw new Error('stale')
    const packed = solidityPackedKeccak256(['address', 'uint256'], [address.toLowerCase(), timestamp])
    const signer = recoverAddress(hashMessage(getBytes(packed)), signature)
    const holders = [controllers.full.address, controllers.noRelay.address]
    const isProfile = address.toLowerCase() === profile.address.toLowerCase()
    if (!isProfile || !holders.includes(signer)) throw new Error('no SIGN')
    return { quota: 1_234_567, unit: 'gas', totalQuota: 6_500_000, resetDate: Date.now() + 2_592_000_000 }
  }

  return serve((request, response, text) => {
    response.setHeader('content-type', 'application/json')
    if (request.url !== '/quota') return response.writeHead(400).end('{"error":"Failed to execute"}')
    try {
      response.end(JSON.stringify(quota(JSON.parse(text) as Body)))
    } catch {
      response.writeHead(400).end('{"error":"Failed to execute"}')
    }
  })
}
