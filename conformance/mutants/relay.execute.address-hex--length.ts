import { defineMutant, withJson } from './define.ts'
import { bodyOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.address-hex',
  fault: 'an address that is too long is cut',
  execute(request, forward) {
    const body = bodyOf(request)
    const { address } = body
    const isLong = typeof address === 'string' && address.length > 42
    return forward(isLong ? withJson(request, { ...body, address: address.slice(0, 42) }) : request)
  },
})
