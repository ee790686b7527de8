import { BrowserProvider, Wallet } from 'ethers'
import { signerOnNode } from '../../../contracts/deploy/signer-on-node.ts'
import { deployTarget, targetInterface } from '../../../contracts/deploy/targets.ts'
import { createSender } from '../../../contracts/deploy/sender.ts'
import { startTestbed, type Testbed, type TestbedOptions } from '../../../testbed/library/index.ts'
import { serve, type TestServer } from '../../../conformance/test/support/serve.ts'
import { createRelayClient, type RelayClient, type RelayClientOptions } from '../../index.ts'

/** A testbed with a contract that counts its calls. */
export interface World extends Omit<Testbed, 'client'> {
  readonly target: string
  /** A client of the controller with all permissions, or with what is given instead. */
  client(options?: Partial<RelayClientOptions>): RelayClient
  /** How often the target was called. */
  calls(): Promise<number>
}

/** A call of the target that is counted. */
export const succeed = (target: string, value = 1) => ({
  to: target,
  data: targetInterface.encodeFunctionData('succeed', [value]),
})

export async function startWorld(options?: TestbedOptions): Promise<World> {
  const testbed = await startTestbed(options)
  const { fixture, relayUrl, rpcUrl, provider } = testbed
  const deployer = signerOnNode(new BrowserProvider(provider), fixture.funder?.address ?? '')
  const target = await deployTarget(await createSender(deployer))
  const controller = new Wallet(fixture.controllers.full.privateKey)
  return {
    ...testbed,
    target,
    client: (given) =>
      createRelayClient({ relayUrl, profile: fixture.profile.address, controller, node: rpcUrl, ...given }),
    calls: async () => {
      const data = targetInterface.encodeFunctionData('calls')
      return Number(await provider.request({ method: 'eth_call', params: [{ to: target, data }, 'latest'] }))
    },
  }
}

/** What a front does with a request: sends it on, answers itself, or cuts the connection. */
export type Fault =
  | 'cut before' // the relay gets nothing
  | 'cut after' // the relay has answered
  | 'fail after' // the same, and the answer is of status 500
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly text: string }

/** Something in front of the relay that answers as it is told; `fault` gets the number of the request, from 0, and its path. */
export function startFront(
  relayUrl: string,
  fault: (index: number, path: string) => Fault | undefined,
): Promise<TestServer> {
  let count = 0
  return serve((request, response, body) => {
    const { method = 'GET', url = '/' } = request
    const wanted = fault(count++, url)
    if (typeof wanted === 'object') return void response.writeHead(wanted.status, wanted.headers).end(wanted.text)
    if (wanted === 'cut before') return void response.destroy()
    const headers = { 'content-type': 'application/json' }
    fetch(`${relayUrl}${url}`, { method, headers, ...(method === 'POST' && { body }) })
      .then(async (answer) => {
        const text = await answer.text()
        if (wanted === 'cut after') response.destroy()
        else if (wanted === 'fail after') response.writeHead(500).end('Internal Server Error')
        else response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(text)
      })
      .catch(() => response.destroy())
  })
}

/** What was thrown; undefined: nothing. */
export const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )
