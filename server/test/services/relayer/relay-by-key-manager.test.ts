import { expect } from 'chai'
import { Wallet } from 'ethers'
import { profileInterface } from '../../../../contracts/deploy/profile.ts'
import { signRelayCall } from '../../../../contracts/lsp25.ts'
import type { RelayCall, RelayRequest, ResolvedProfile, Services } from '../../../core/define.ts'
import { ServiceError } from '../../../core/errors.ts'
import type { Registry } from '../../../core/registry.ts'
import type { KnownCall, ProfilePlace } from '../../../services/relay-services.ts'
import { identityOf } from '../../../services/relayer/identity.ts'
import { StaleProfileError } from '../../../services/relayer/judge.ts'
import { relayByKeyManager } from '../../../services/relayer/relay-by-key-manager.ts'
import { ownRegistry } from '../../support/own-registry.ts'

const controller = new Wallet(`0x${'11'.repeat(32)}`)
const address = '0x1111111111111111111111111111111111111111'
const former = '0x2222222222222222222222222222222222222222'
const present = '0x3333333333333333333333333333333333333333'
const chainId = 4711
const nonce = 7n
const payload = profileInterface.encodeFunctionData('setData', [`0x${'ab'.repeat(32)}`, '0x01'])
const hashes = { former: `0x${'f0'.repeat(32)}`, sent: `0x${'5e'.repeat(32)}` }

/** A request that the controller has signed for a key manager. */
function requestFor(keyManager: string, abi = payload): RelayRequest {
  const signature = signRelayCall({ keyManager, chainId, nonce, payload: abi }, controller.privateKey)
  return { address: address.toLowerCase(), transaction: { abi, signature, nonce, validityTimestamps: 0n } }
}

const acceptedFor = (keyManager: string, transactionHash: string, abi = payload): KnownCall => ({
  keyManager,
  identity: identityOf(BigInt(chainId), {
    keyManager,
    signer: controller.address,
    nonce,
    validityTimestamps: 0n,
    payload: abi,
  } as RelayCall),
  transactionHash,
})

const refusal = (code: ConstructorParameters<typeof ServiceError>[0]) => new ServiceError(code, 'for a test')

describe('relayByKeyManager', () => {
  let registry: Registry
  before(async () => {
    registry = await ownRegistry()
  })

  /** Services that know one profile, and the hash of the answer that a request gets. */
  function world({
    submit = async () => ({ transactionHash: hashes.sent }),
    resolve = async () => present,
    accepted = async () => [],
  }: {
    submit?: (call: RelayCall) => Promise<{ transactionHash: string }>
    resolve?: (tries: number) => Promise<string>
    accepted?: (place: ProfilePlace) => Promise<readonly KnownCall[]>
  }) {
    const [submitted, forgotten] = [[] as RelayCall[], [] as string[]]
    let tries = 0
    const services = {
      profiles: {
        resolve: async (): Promise<ResolvedProfile> => ({
          address,
          keyManager: await resolve(++tries),
          interfaceId: '0x5ac79908',
        }),
        forget: (profile: string) => void forgotten.push(profile),
      },
      relays: { accepted },
      relayer: {
        chainId: BigInt(chainId),
        submit: (call: RelayCall) => {
          submitted.push(call)
          return submit(call)
        },
      },
    } as unknown as Services
    const relay = relayByKeyManager(registry.relays, services)
    return { submitted, forgotten, relay: (request: RelayRequest) => relay(request, {}) }
  }

  /** The hash that a request is answered with, or the code of the refusal. */
  const outcomeOf = (answer: Promise<{ transactionHash: string }>) =>
    answer.then(
      ({ transactionHash }) => transactionHash,
      (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
    )

  it('relays for the key manager that the profile has', async () => {
    const { relay, submitted } = world({})
    expect(await outcomeOf(relay(requestFor(present)))).to.equal(hashes.sent)
    expect(submitted).to.have.length(1)
    expect(submitted[0]).to.include({ keyManager: present, signer: controller.address, profile: address })
  })

  it('tries once more when the profile has another key manager, and says so when it has another one again', async () => {
    const stale = async ({ keyManager }: RelayCall) => {
      if (keyManager === former) throw new StaleProfileError(address)
      return { transactionHash: hashes.sent }
    }
    const once = world({ submit: stale, resolve: async (tries) => (tries === 1 ? former : present) })
    expect(await outcomeOf(once.relay(requestFor(present)))).to.equal(hashes.sent)
    expect(once.forgotten).to.deep.equal([address])
    const twice = world({ submit: stale, resolve: async () => former })
    expect(await outcomeOf(twice.relay(requestFor(present)))).to.equal('PROFILE_NOT_FOUND')
    expect(twice.forgotten).to.deep.equal([address, address])
  })

  for (const code of ['NONCE_USED', 'INVALID_SIGNATURE', 'EXPIRES_TOO_SOON', 'PROFILE_NOT_REGISTERED'] as const) {
    it(`answers a request that was accepted for a former key manager with its hash, in place of ${code}`, async () => {
      const { relay } = world({
        submit: async () => {
          throw refusal(code)
        },
        accepted: async () => [acceptedFor(former, hashes.former)],
      })
      expect(await outcomeOf(relay(requestFor(former)))).to.equal(hashes.former)
      expect(await outcomeOf(relay(requestFor(present)))).to.equal(code)
      expect(await outcomeOf(relay(requestFor(former, `${payload}00`)))).to.equal(code)
    })
  }

  it('answers it also when the profile has no key manager any more', async () => {
    const { relay } = world({
      resolve: async () => {
        throw refusal('PROFILE_NOT_FOUND')
      },
      accepted: async () => [acceptedFor(former, hashes.former)],
    })
    expect(await outcomeOf(relay(requestFor(former)))).to.equal(hashes.former)
    expect(await outcomeOf(relay(requestFor(present)))).to.equal('PROFILE_NOT_FOUND')
  })

  it('asks for the calls of the profile with this nonce, and answers with the first that is the same', async () => {
    const asked: unknown[] = []
    const { relay } = world({
      submit: async () => {
        throw refusal('NONCE_USED')
      },
      accepted: async (place) => {
        asked.push(place)
        return [
          acceptedFor(present, '0xother', `${payload}00`),
          acceptedFor(former, hashes.former),
          acceptedFor(former, '0xreverted'),
        ]
      },
    })
    expect(await outcomeOf(relay(requestFor(former)))).to.equal(hashes.former)
    expect(asked).to.deep.equal([{ profile: address, nonce }])
  })

  it('does not say that a call will not be sent while the ledger does not answer', async () => {
    const { relay } = world({
      submit: async () => {
        throw refusal('NONCE_USED')
      },
      accepted: async () => {
        throw refusal('UPSTREAM_UNAVAILABLE')
      },
    })
    expect(await outcomeOf(relay(requestFor(present)))).to.equal('UPSTREAM_UNAVAILABLE')
  })

  it('does not say so either when the call may have been stored before the ledger went away', async () => {
    const away = (broadcast: boolean) => new ServiceError('UPSTREAM_UNAVAILABLE', 'for a test', { broadcast })
    const { relay } = world({
      submit: async () => {
        throw away(true)
      },
      accepted: async () => {
        throw away(false)
      },
    })
    const error = await relay(requestFor(present)).catch((thrown: unknown) => thrown)
    expect(error).to.include({ code: 'UPSTREAM_UNAVAILABLE', broadcast: true })
  })

  it('refuses a signature that no key can have made without a question to the ledger', async () => {
    const { relay } = world({
      accepted: async () => {
        throw refusal('UPSTREAM_UNAVAILABLE')
      },
    })
    const { address: profile, transaction } = requestFor(present)
    const signature = `${transaction.signature.slice(0, -2)}63`
    expect(await outcomeOf(relay({ address: profile, transaction: { ...transaction, signature } }))).to.equal(
      'INVALID_SIGNATURE',
    )
  })
})
