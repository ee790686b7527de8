import { defineMutant } from './define.ts'
import { resigned, wholeTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.signature-hex',
  fault: 'a signature with letters that are no hex digits is taken',
  execute(request, forward, tools) {
    const transaction = wholeTransaction(request)
    const isOdd = transaction?.signature.endsWith('zz')
    return forward(isOdd ? resigned(request, tools, transaction?.abi ?? '0x') : request)
  },
})
