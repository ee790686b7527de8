import { defineMutant, mapResponses } from './define.ts'

export default defineMutant({
  clause: 'eth-rpc.response.id-echo',
  fault: 'the id comes back as a string',
  rpc: async (request, forward) =>
    mapResponses(await forward(request), (answer) => ({ ...answer, id: String(answer['id']) })),
})
