import { defineMutant, respond } from './define.ts'

export default defineMutant({
  clause: 'relay.execute.repeat',
  fault: 'a repeated request is answered with an empty success',
  async execute(request, forward, { memory }) {
    if (memory.has(request.text)) return respond(200, {})
    memory.set(request.text, true)
    return forward(request)
  },
})
