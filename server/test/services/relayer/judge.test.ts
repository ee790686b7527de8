import { expect } from 'chai'
import type { RelayCall } from '../../../core/define.ts'
import { ServiceError } from '../../../core/errors.ts'
import type { Admission } from '../../../services/ledger/admission.ts'
import { judgeRun, judgeSigner, StaleProfileError } from '../../../services/relayer/judge.ts'
import type { CallResult } from '../../../services/simulator/simulator.ts'

const profile = '0x1111111111111111111111111111111111111111'
const keyManager = '0x2222222222222222222222222222222222222222'
const stranger = '0x3333333333333333333333333333333333333333'
const controller = '0x4444444444444444444444444444444444444444'

const call: RelayCall = {
  profile,
  keyManager,
  signer: stranger,
  nonce: 0n,
  validityTimestamps: 0n,
  payload: '0x',
  callData: '0x',
  nonceCallData: '0x',
  misreadings: () => [{ mistake: 'signed with personal_sign', signer: controller }],
}
const gasCap = 1_000_000n
const succeeds = (gas: bigint): CallResult => ({ kind: 'succeeds', gas })
const reverts = (name: string): CallResult => ({ kind: 'reverts', reason: { name, args: {}, data: '0x' } })

/** Judges one call after the other; `admission` and `admit` are those of all, and `padding` is in percent. */
function judge(
  results: readonly CallResult[],
  { admit, padding = 10, ...admission }: Partial<Admission> & Pick<RelayCall, 'admit'> & { padding?: number } = {},
) {
  const calls = results.map((_, index) => ({
    call: { ...call, nonce: BigInt(index), ...(admit && { admit }) },
    identity: `call ${index}`,
    admission: { gasCap, code: null, ...admission },
    deadlineMs: 0,
    resolve: () => {},
    reject: () => {},
  }))
  return judgeRun({ calls, results, account: undefined }, { gasCap, gasPaddingPercent: padding })
}

const gasLimits = (judged: Awaited<ReturnType<typeof judge>>) =>
  judged instanceof ServiceError ? judged.code : judged.map(({ gasLimit }) => gasLimit)

describe('judgeRun', () => {
  it('pads the gas, up to what any call and what this one may take', async () => {
    expect(gasLimits(await judge([succeeds(100_000n), succeeds(950_000n)]))).to.deep.equal([110_000n, 1_000_000n])
    expect(gasLimits(await judge([succeeds(100_000n)], { gasCap: 105_000n }))).to.deep.equal([105_000n])
  })

  it('leaves what contracts keep back, whatever the padding, and refuses where that is too much', async () => {
    expect(gasLimits(await judge([succeeds(250_047n)], { padding: 0 }))).to.deep.equal([262_145n])
    const quota = new ServiceError('QUOTA_EXCEEDED', 'too little left')
    const tooLittle = { gasCap: 262_144n, shortage: quota }
    expect(gasLimits(await judge([succeeds(250_047n)], tooLittle))).to.equal('QUOTA_EXCEEDED')
    expect(gasLimits(await judge([succeeds(999_999n)]))).to.equal('RELAY_CALL_REVERTS')
  })

  it('accepts what lies before the first call that is refused', async () => {
    const run = [succeeds(100_000n), reverts('NoCallsAllowed'), succeeds(100_000n)]
    expect(gasLimits(await judge(run))).to.deep.equal([110_000n])
  })

  it('says why the first call is refused', async () => {
    const quota = new ServiceError('QUOTA_EXCEEDED', 'too little left')
    expect(gasLimits(await judge([reverts('NoCallsAllowed')]))).to.equal('NOT_AUTHORISED')
    expect(gasLimits(await judge([reverts('SomethingElse')]))).to.equal('RELAY_CALL_REVERTS')
    expect(gasLimits(await judge([succeeds(1_000_001n)]))).to.equal('RELAY_CALL_REVERTS')
    expect(gasLimits(await judge([{ kind: 'exceeds-gas-cap' }]))).to.equal('RELAY_CALL_REVERTS')
    expect(gasLimits(await judge([{ kind: 'exceeds-gas-cap' }], { shortage: quota }))).to.equal('QUOTA_EXCEEDED')
    expect(gasLimits(await judge([{ kind: 'not-simulated' }]))).to.equal('RATE_LIMITED')
  })

  it('counts calls that are accepted and calls that would revert, and nothing else', async () => {
    let counted = 0
    const admit = async () => void counted++
    await judge([succeeds(1n), succeeds(1n)], { admit })
    expect(counted).to.equal(2)
    await judge([reverts('SomethingElse')], { admit })
    expect(counted).to.equal(3)
    await judge([{ kind: 'not-simulated' }], { admit })
    expect(counted).to.equal(3)
    const limited = () => Promise.reject(new ServiceError('RATE_LIMITED', 'too many'))
    expect(gasLimits(await judge([succeeds(1n)], { admit: limited }))).to.equal('RATE_LIMITED')
  })
})

describe('judgeSigner', () => {
  const profiles = {
    permissions: async (_profile: string, controllers: readonly string[]) =>
      controllers.map((one) => (one === controller ? 0x400000n : 0n)),
  }
  const judged = (parties: { readonly owner?: string; readonly target?: string; readonly permissions?: bigint }) =>
    judgeSigner(call, { parties: { owner: keyManager, target: profile, ...parties } }, profiles).then(
      () => 'accepted',
      (error: unknown) => error,
    )

  it('accepts a controller that may have calls relayed', async () => {
    expect(await judged({})).to.equal('accepted')
    expect(await judged({ permissions: 0x400000n })).to.equal('accepted')
  })

  it('names the mistake in signing that leads to a controller', async () => {
    const error = await judged({ permissions: 0n })
    expect(error).to.be.instanceOf(ServiceError)
    const { code, details } = error as ServiceError
    expect(code).to.equal('INVALID_SIGNATURE')
    expect(details).to.deep.equal({ signer: stranger, likelyMistake: 'signed with personal_sign', controller })
  })

  it('names the permission that is missing', async () => {
    expect(await judged({ permissions: 0x200000n })).to.have.property('code', 'NOT_AUTHORISED')
  })

  it('notices that the profile has another key manager, or the key manager another profile', async () => {
    expect(await judged({ owner: stranger })).to.be.instanceOf(StaleProfileError)
    expect(await judged({ target: stranger })).to.be.instanceOf(StaleProfileError)
  })
})
