import { defineMutant, respond, type AlteredRequest, type AlteredTools } from '../../altered/define.ts'
import { validQuota } from '../../altered/lib/quota.ts'
import { requestObject, resigned, signedByFull, wholeTransaction } from '../../altered/lib/relay.ts'
import { signQuota } from '../../lib/relay/message.ts'

/** Whether a signature is wrong in its last bytes alone. */
function isNearly(signature: unknown, right: unknown): boolean {
  const [found, wanted] = [String(signature).toLowerCase(), String(right).toLowerCase()]
  return /^0x[0-9a-f]{130}$/.test(found) && found !== wanted && found.slice(0, 98) === wanted.slice(0, 98)
}

/** The quota request with the right signature, when only the last bytes of its own are wrong. */
function nearlySigned(request: AlteredRequest, tools: AlteredTools): AlteredRequest {
  const { address, timestamp, signature } = requestObject(request)
  if (typeof timestamp !== 'number' || typeof address !== 'string' || !/^0x[0-9a-f]{40}$/i.test(address)) return request
  const right = signQuota({ address, timestamp }, tools.fixture.controllers.full)
  return isNearly(signature, right) ? validQuota(request, tools) : request
}

export default [
  defineMutant({
    clause: 'relay.fuzz.no-server-error',
    name: 'transaction-list',
    fault: 'a transaction whose abi is missing and whose nonce is an object is answered by a server error',
    execute: async (request, forward) =>
      /"(nonce|signature|abi)"\s*:\s*[[{]\s*[[{"\d]/.test(request.text) && !/"0x[0-9a-f]{130,}"\s*\]/.test(request.text)
        ? respond(500, {})
        : forward(request),
  }),
  defineMutant({
    clause: 'relay.fuzz.no-server-error',
    name: 'quota-letters',
    fault: 'a request for the quota with letters beyond ASCII is answered by a server error',
    quota: async (request, forward) => (/[^\0-\x7f]|\\u/.test(request.text) ? respond(500, {}) : forward(request)),
  }),
  defineMutant({
    clause: 'relay.fuzz.one-effect',
    fault: 'a call that is written with escapes is another call: the relay signs it anew',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      return forward(transaction && request.text.includes('\\u') ? resigned(request, tools, transaction.abi) : request)
    },
  }),
  defineMutant({
    clause: 'relay.fuzz.valid-signature',
    fault: 'the last 17 bytes of a signature are not looked at',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction) return forward(request)
      const { signature } = signedByFull(tools, transaction.abi, transaction.nonce)
      return forward(
        isNearly(transaction.signature, signature)
          ? resigned(request, tools, transaction.abi, transaction.nonce)
          : request,
      )
    },
  }),
  defineMutant({
    clause: 'relay.fuzz.quota-signature',
    name: 'last-bytes',
    fault: 'the last 17 bytes of a signature over the quota message are not looked at',
    quota: (request, forward, tools) => forward(nearlySigned(request, tools)),
  }),
  defineMutant({
    clause: 'relay.fuzz.quota-signature',
    name: 'last-digits',
    fault: 'an address whose second half is wrong is taken for the profile',
    async quota(request, forward, tools) {
      const { address } = requestObject(request)
      const own = tools.fixture.profile.address.toLowerCase()
      const isNear =
        String(address).toLowerCase() !== own && String(address).toLowerCase().slice(0, 22) === own.slice(0, 22)
      return forward(isNear ? validQuota(request, tools) : request)
    },
  }),
]
