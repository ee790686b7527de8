import { expect } from 'chai'
import { keyManagerInterface, profileInterface, type Profile } from '../../../../contracts/deploy/profile.ts'
import { relayNonce, signRelayCall } from '../../../../contracts/lsp25.ts'
import { deployImpostor, impostorInterface } from '../../support/impostor.ts'
import { createRelayClient, type Answer } from '../../support/relay-client.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../../support/relay-server.ts'

describe('who pays for a relay call', () => {
  let chain: RelayChain
  let server: RelayServer

  before(async () => {
    chain = await startRelayChain('hardhat', 2)
    server = await startRelayServer({ rpcUrl: chain.node.rpcUrl, signerKeys: chain.signerKeys })
  })
  after(async () => {
    await server.close()
    await chain.close()
  })

  const clientOf = (profile: Profile, { url } = server) =>
    createRelayClient({ url, chainId: chain.chainId, profile, controller: chain.controllers.full })
  const send = async (to: string, data: string) => chain.sender.mined(await chain.sender.send({ to, data }))
  const codeOf = ({ status, json }: Answer) => (status === 200 ? 'taken' : json.code)
  const impostorCalls = async ({ keyManager }: Profile) => {
    const data = impostorInterface.encodeFunctionData('calls')
    return Number(await chain.node.request<string>('eth_call', { to: keyManager, data }, 'latest'))
  }

  describe('a profile that has left a hostile key manager', () => {
    let profile: Profile
    let former: Profile

    /** Has the genuine key manager execute a payload. */
    async function relay({ keyManager }: Profile, id: bigint, payload: string): Promise<void> {
      const nonce = relayNonce(98n, id)
      const message = { keyManager, chainId: chain.chainId, nonce, payload }
      const signature = signRelayCall(message, chain.controllers.full.privateKey)
      await send(
        keyManager,
        keyManagerInterface.encodeFunctionData('executeRelayCall', [signature, nonce, 0n, payload]),
      )
    }

    const accept = profileInterface.encodeFunctionData('acceptOwnership')
    const transferTo = (owner: string) => profileInterface.encodeFunctionData('transferOwnership', [owner])
    const forward = (to: string, data: string) => impostorInterface.encodeFunctionData('forward', [to, data])

    beforeEach(async () => {
      profile = await chain.anotherProfile()
      former = await deployImpostor(chain.sender, { address: profile.address })
      await relay(profile, 0n, transferTo(former.keyManager))
      await send(former.keyManager, forward(profile.address, accept))
      expect(codeOf(await clientOf(former).execute())).to.equal('taken')
      await send(former.keyManager, forward(profile.address, transferTo(profile.keyManager)))
      await relay(profile, 1n, accept)
    })

    it('does not pay for what that one executes', async () => {
      const before = await impostorCalls(former)
      expect(codeOf(await clientOf(former).execute({ channel: 1n }))).to.equal('INVALID_SIGNATURE')
      expect(codeOf(await clientOf(profile).execute({ channel: 1n }))).to.equal('taken')
      expect(await impostorCalls(former)).to.equal(before)
    })

    it('does not pay for calls among those of a profile that the hostile one controls', async () => {
      const own = await deployImpostor(chain.sender, { keyManager: former.keyManager })
      await send(former.keyManager, impostorInterface.encodeFunctionData('claim', [own.address]))
      // Both are known now, and calls that come together are tried together.
      expect(codeOf(await clientOf(own).execute())).to.equal('taken')
      const callers = [own, own, former, own, former, own, former].map((each) => clientOf(each))
      const answers = await Promise.all(callers.map((client, id) => client.execute({ channel: 2n, id: BigInt(id) })))
      expect([2, 4, 6].map((index) => codeOf(answers[index]!))).to.not.include('taken')
    })
  })
})
