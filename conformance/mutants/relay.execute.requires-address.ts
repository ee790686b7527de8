import { defineMutant, withJson } from './define.ts'
import { bodyOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.requires-address',
  fault: 'a missing address is that of the only profile',
  execute: (request, forward, { fixture }) =>
    forward(withJson(request, { address: fixture.profile.address, ...bodyOf(request) })),
})
