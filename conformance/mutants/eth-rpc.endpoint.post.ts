import { defineMutant } from './define.ts'

export default defineMutant({
  clause: 'eth-rpc.endpoint.post',
  fault: 'a served request is answered with 201 instead of 200',
  rpc: async (request, forward) => {
    const response = await forward(request)
    return response.status === 200 ? { ...response, status: 201 } : response
  },
})
