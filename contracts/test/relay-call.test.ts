import { expect } from 'chai'
import { Wallet } from 'ethers'
import { profileInterface } from '../deploy/profile.ts'
import { relayNonce, validityWindow } from '../lsp25.ts'
import { openRelayWorld, setSomeData, type RelayWorld } from './relay-world.ts'

describe('executeRelayCall of the key manager (LSP6, LSP25)', () => {
  let world: RelayWorld

  beforeEach(async () => {
    world = await openRelayWorld()
  })

  it('executes the payload on behalf of the profile, whoever sends it', async () => {
    expect(await world.relay({ payload: world.executeTarget('succeed', 7n) })).to.equal(1)
    expect(await world.target.getFunction('lastValue')()).to.equal(7n)
    const [event] = await world.target.queryFilter('Called')
    expect(event && 'args' in event ? event.args.toArray() : event).to.deep.equal([world.profileAddress, 7n, 1n])
  })

  it('writes data of the profile', async () => {
    expect(await world.relay({ payload: setSomeData('0x1234') })).to.equal(1)
    expect(await world.profile.getFunction('getData')('0x' + 'ab'.repeat(32))).to.equal('0x1234')
  })

  describe('nonces', () => {
    const payload = setSomeData()

    it('keeps the order inside a channel', async () => {
      expect((await world.refusal({ payload, nonce: 1n })).name).to.equal('InvalidRelayNonce')
      expect(await world.relay({ payload, nonce: 0n })).to.equal(1)
      expect((await world.refusal({ payload, nonce: 0n })).name).to.equal('InvalidRelayNonce')
      expect(await world.relay({ payload, nonce: 1n })).to.equal(1)
    })

    it('keeps channels independent, up to the last of 128 bits', async () => {
      for (const channel of [5n, 1n << 64n, (1n << 128n) - 2n]) {
        expect(await world.relay({ payload, nonce: relayNonce(channel, 0n) }), `channel ${channel}`).to.equal(1)
        expect(await world.nonceOf(world.controllers.full, channel)).to.equal(relayNonce(channel, 1n))
      }
      expect(await world.nonceOf(world.controllers.full)).to.equal(0n)
    })

    it('counts for each signer alone', async () => {
      expect(await world.relay({ payload, nonce: 0n })).to.equal(1)
      expect(await world.relay({ payload, nonce: 0n, signer: world.controllers.noSign })).to.equal(1)
    })

    it('gives the nonce back when the call reverts', async () => {
      expect(await world.relay({ payload: world.executeTarget('refuse', 1n) })).to.equal(0)
      expect(await world.nonceOf(world.controllers.full)).to.equal(0n)
      expect(await world.relay({ payload })).to.equal(1)
    })
  })

  describe('validity windows', () => {
    const payload = setSomeData()
    let now: number

    beforeEach(async () => {
      now = (await world.ethers.provider.getBlock('latest'))!.timestamp + 1000
      await world.provider.request({ method: 'evm_setNextBlockTimestamp', params: [now] })
      await world.provider.request({ method: 'evm_mine', params: [] })
      await world.provider.request({ method: 'evm_setNextBlockTimestamp', params: [now] })
    })

    for (const [title, start, end] of [
      ['both bounds are the present second', 0, 0],
      ['the present lies within', -10, 10],
    ] as const) {
      it(`executes when ${title}`, async () => {
        expect(await world.relay({ payload, validityTimestamps: validityWindow(now + start, now + end) })).to.equal(1)
      })
    }

    it('never expires with a start and end 0', async () => {
      expect(await world.relay({ payload, validityTimestamps: validityWindow(now, 0) })).to.equal(1)
    })

    it('refuses before the start', async () => {
      const validityTimestamps = validityWindow(now + 100, now + 200)
      expect((await world.refusal({ payload, validityTimestamps })).name).to.equal('RelayCallBeforeStartTime')
    })

    it('refuses after the end', async () => {
      const validityTimestamps = validityWindow(now - 200, now - 1)
      expect((await world.refusal({ payload, validityTimestamps })).name).to.equal('RelayCallExpired')
    })
  })

  describe('what was signed', () => {
    const payload = setSomeData()
    const stranger = Wallet.createRandom().address

    for (const [title, signed] of [
      ['another payload', { payload: '0x12345678' }],
      ['another nonce', { nonce: 1n }],
      ['another key manager', { keyManager: stranger }],
      ['another chain', { chainId: 1n }],
      ['another validity window', { validityTimestamps: 1n << 128n }],
      ['another value', { valueWei: 1n }],
    ] as const) {
      it(`is not ${title}: a stranger is recovered`, async () => {
        // With nonce 0 the stranger's nonce is right, so it is the permissions that stop the call.
        const refusal = await world.refusal({ payload, signed })
        expect(refusal.name).to.equal('NoPermissionsSet')
        expect(refusal.args[0]).not.to.equal(world.controllers.full.address)
      })
    }

    it('looks like a wrong nonce when the signature is wrong and the nonce is used', async () => {
      await world.relay({ payload })
      const refusal = await world.refusal({ payload, nonce: 1n, signed: { nonce: 0n } })
      expect(refusal.name).to.equal('InvalidRelayNonce')
      expect(refusal.args[0]).not.to.equal(world.controllers.full.address)
    })
  })

  describe('permissions', () => {
    it('needs EXECUTE_RELAY_CALL', async () => {
      const { noRelay } = world.controllers
      expect(await world.refusal({ payload: setSomeData(), signer: noRelay })).to.deep.equal({
        name: 'NotAuthorised',
        args: [noRelay.address, 'EXECUTE_RELAY_CALL'],
      })
    })

    it('does not need SIGN', async () => {
      expect(await world.relay({ payload: setSomeData(), signer: world.controllers.noSign })).to.equal(1)
    })

    it('refuses who has none', async () => {
      const stranger = Wallet.createRandom()
      expect(await world.refusal({ payload: setSomeData(), signer: stranger })).to.deep.equal({
        name: 'NoPermissionsSet',
        args: [stranger.address],
      })
    })
  })

  describe('the order of the checks: of two faults, the earlier one is told', () => {
    const malformed = '0x' + '11'.repeat(10)
    const expired = validityWindow(0, 1)

    it('InvalidPayload before the signature', async () => {
      expect((await world.refusal({ payload: '0x123456', signature: malformed })).name).to.equal('InvalidPayload')
    })

    it('the signature before the nonce', async () => {
      expect(await world.refusal({ payload: setSomeData(), signature: malformed, nonce: 9n })).to.deep.equal({
        name: 'Error',
        args: ['ECDSA: invalid signature length'],
      })
    })

    it('the nonce before the window', async () => {
      const refusal = await world.refusal({ payload: setSomeData(), nonce: 9n, validityTimestamps: expired })
      expect(refusal.name).to.equal('InvalidRelayNonce')
    })

    it('the window before the permissions', async () => {
      const signer = Wallet.createRandom()
      const refusal = await world.refusal({ payload: setSomeData(), signer, validityTimestamps: expired })
      expect(refusal.name).to.equal('RelayCallExpired')
    })

    it('EXECUTE_RELAY_CALL before the function', async () => {
      const refusal = await world.refusal({ payload: '0x12345678', signer: world.controllers.noRelay })
      expect(refusal.name).to.equal('NotAuthorised')
    })

    it('the function before the call', async () => {
      expect((await world.refusal({ payload: '0x12345678' })).name).to.equal('InvalidERC725Function')
    })
  })

  describe('what the call reverts with comes through', () => {
    it('a custom error with its arguments', async () => {
      expect(await world.refusal({ payload: world.executeTarget('refuse', 42n) })).to.deep.equal({
        name: 'Refused',
        args: [world.profileAddress, 42n],
      })
    })

    it('a string', async () => {
      expect(await world.refusal({ payload: world.executeTarget('refuseWithText', 'not today') })).to.deep.equal({
        name: 'Error',
        args: ['not today'],
      })
    })

    it('nothing', async () => {
      const refusal = await world.refusal({ payload: world.executeTarget('refuseSilently') })
      expect(refusal).to.deep.equal({ name: 'Error', args: ['ERC725X: Unknown Error'] })
    })

    it('too little native coin', async () => {
      const payload = profileInterface.encodeFunctionData('execute', [0, world.targetAddress, 10n ** 20n, '0x'])
      expect(await world.refusal({ payload })).to.deep.equal({
        name: 'ERC725X_InsufficientBalance',
        args: [10n ** 18n, 10n ** 20n],
      })
    })
  })

  it('transfers native coin of the profile', async () => {
    const payload = profileInterface.encodeFunctionData('execute', [0, world.targetAddress, 5n, '0x'])
    expect(await world.relay({ payload })).to.equal(1)
    expect(await world.ethers.provider.getBalance(world.targetAddress)).to.equal(5n)
  })

  it('burns what gas it is told to', async () => {
    const before = await world.ethers.provider.getBlockNumber()
    await world.relay({ payload: world.executeTarget('burnGas', 1_000_000n) })
    const block = await world.ethers.provider.getBlock(before + 1)
    expect(block!.gasUsed > 1_000_000n && block!.gasUsed < 1_200_000n, `${block!.gasUsed}`).to.equal(true)
  })
})
