import { expect } from 'chai'
import type { RelayCall } from '../../../core/define.ts'
import { ServiceError } from '../../../core/errors.ts'
import { createControllerCheck } from '../../../services/relayer/controllers.ts'
import { StaleProfileError } from '../../../services/relayer/judge.ts'

const profile = '0x1111111111111111111111111111111111111111'
const keyManager = '0x2222222222222222222222222222222222222222'
const successor = '0x3333333333333333333333333333333333333333'
const signer = '0x4444444444444444444444444444444444444444'

const call: RelayCall = {
  profile,
  keyManager,
  signer,
  nonce: 0n,
  validityTimestamps: 0n,
  payload: '0x',
  callData: '0x',
  nonceCallData: '0x',
  misreadings: () => [],
}

describe('createControllerCheck', () => {
  let chain = { owner: keyManager, target: profile, permissions: 1n }
  let nowMs = 0
  let reads = 0
  const check = () => {
    const assertController = createControllerCheck({
      profiles: {
        parties: async () => {
          reads++
          return chain
        },
        permissions: async () => [],
      },
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    })
    return (one = call) =>
      assertController(one).then(
        () => 'passes',
        (error: unknown) =>
          error instanceof ServiceError ? error.code : error instanceof StaleProfileError ? error.name : String(error),
      )
  }

  beforeEach(() => {
    chain = { owner: keyManager, target: profile, permissions: 1n }
    reads = 0
  })

  it('lets a controller pass, and asks the node about it once a minute', async () => {
    const codeOf = check()
    expect([await codeOf(), await codeOf()]).to.deep.equal(['passes', 'passes'])
    expect(reads).to.equal(1)
    nowMs += 60_000
    chain = { ...chain, permissions: 0n }
    expect(await codeOf()).to.equal('INVALID_SIGNATURE')
    expect(await codeOf({ ...call, signer: successor })).to.equal('INVALID_SIGNATURE')
    expect(reads).to.equal(3)
  })

  it('says nothing of a signer that was recovered for a key manager which the profile no longer has', async () => {
    chain = { owner: successor, target: profile, permissions: 0n }
    expect(await check()()).to.equal('StaleProfileError')
  })
})
