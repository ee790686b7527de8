import { defineMutant, withJson } from './define.ts'
import { bodyOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.address-hex',
  fault: 'address is made a string: an array that holds one becomes it',
  execute(request, forward) {
    const body = bodyOf(request)
    return forward(
      Array.isArray(body['address']) ? withJson(request, { ...body, address: String(body['address']) }) : request,
    )
  },
})
