import { expect } from 'chai'
import { createRandom, generateBodies, type RequestSource } from '../../../testbed/generated-bodies.ts'
import { startTestbed, type Testbed } from '../../../testbed/testbed.ts'
import { createRelayClient } from '../support/relay-client.ts'

const COUNT = 500
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 32))

describe(`${COUNT} generated bodies to /execute and to /quota (SEED=${seed})`, () => {
  let testbed: Testbed
  before(async () => {
    testbed = await startTestbed()
  })
  after(() => testbed.close())

  /** A call that is signed for a nonce far ahead, so that whatever passes every check is refused by its nonce. */
  const execute: RequestSource = () => {
    const { fixture } = testbed
    const client = createRelayClient({
      url: testbed.relayUrl,
      chainId: fixture.chain.chainId,
      profile: fixture.profile,
      controller: fixture.controllers.full,
    })
    const { address, transaction } = client.sign({ channel: 3n, id: 9n })
    return { address, transaction: { ...transaction, nonce: String(transaction.nonce), validityTimestamps: '0x0' } }
  }
  const quota: RequestSource = () => ({
    address: testbed.fixture.profile.address,
    timestamp: Math.floor(Date.now() / 1000),
    signature: `0x${'11'.repeat(65)}`,
  })

  for (const [path, request] of Object.entries({ '/execute': execute, '/quota': quota })) {
    it(`are all refused by ${path} with its own error, and nothing is sent`, async () => {
      const bodies = generateBodies(COUNT, createRandom(seed), request)
      const worker = async () => {
        for (const body of bodies) {
          const response = await fetch(`${testbed.relayUrl}${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body,
          })
          const text = await response.text()
          const sent = `${body.toString('latin1')} -> ${response.status} ${text}`
          expect(response.status, sent).to.be.within(400, 499)
          expect(JSON.parse(text), sent).to.have.all.keys('code', 'message', 'details', 'broadcast')
          expect(text, sent).to.include('"broadcast":false')
        }
      }
      await Promise.all(Array.from({ length: 8 }, worker))
      expect((await fetch(`${testbed.relayUrl}/readyz`)).status).to.equal(200)
    })
  }
})
