import { gzipSync } from 'node:zlib'

/** A request as it goes over the connection, 1 kB at most. */
export interface SmallRequest {
  readonly name: string
  readonly bytes: Buffer
}

/** The most bytes of what a body of gzip unpacks to here: more is refused by every limit. */
const UNPACKED_BYTES = 850_000
const MOST_BYTES = 1_200
const PACKED_BYTES = 1_024

/** 1 kB each: what is cheap to send, and dear to answer where nothing bounds it. */
export function worstRequests(): readonly SmallRequest[] {
  const digits = (count = UNPACKED_BYTES - 300) => '7'.repeat(count)
  const address = `0x${'11'.repeat(20)}`
  const signature = `0x${'11'.repeat(64)}1b`
  const call = (members: string) => `{"jsonrpc":"2.0","id":1,"method":"eth_getBalance",${members}}`
  const execute = (nonce: string, more = '') =>
    `{"address":"${address}","transaction":{"abi":"0x7f23690c","signature":"${signature}","nonce":${nonce}${more}}}`
  const logs = (filter: string) => `{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[${filter}]}`
  const topic = `"0x${'22'.repeat(32)}"`

  return [
    packed('digits as an id', '/api/eth-rpc', `{"jsonrpc":"2.0","method":"eth_chainId","id":${digits()}}`),
    packed('digits as a parameter', '/api/eth-rpc', call(`"params":["${address}",${digits()}]`)),
    packed('digits as a parameter, in a string', '/api/eth-rpc', call(`"params":["${address}","0x${digits()}"]`)),
    packed('digits as a nonce', '/execute', execute(digits())),
    packed('digits as a nonce, in a string', '/execute', execute(`"${digits()}"`)),
    packed('hex digits as a nonce', '/execute', execute(`"0x${digits()}"`)),
    packed(
      'digits as a timestamp',
      '/quota',
      `{"address":"${address}","signature":"${signature}","timestamp":${digits()}}`,
    ),
    packed('digits in 26 kB', '/execute', execute(digits(26_000))),
    packed('lists in lists', '/api/eth-rpc', '['.repeat(UNPACKED_BYTES)),
    packed('a batch of nothing', '/api/eth-rpc', `[${'[],'.repeat(10_000)}0]`),
    packed('a batch of 1,000 times nothing', '/api/eth-rpc', `[${'0,'.repeat(999)}0]`),
    packed('a batch of 1,000 requests without a method', '/api/eth-rpc', `[${'{"id":1},'.repeat(999)}{}]`),
    packed('a batch of 500 calls', '/api/eth-rpc', `[${`${chainIdCall},`.repeat(499)}${chainIdCall}]`),
    packed(
      'a batch of ids of 1,000 characters',
      '/api/eth-rpc',
      `[${`{"id":"${'\\u0001'.repeat(160)}"},`.repeat(30)}0]`,
    ),
    packed('fractions', '/api/eth-rpc', `[${'1.5,'.repeat(7_500)}0]`),
    packed('fractions beside a call', '/execute', execute('1', `},"more":[${'1e1,'.repeat(7_500)}0],"x":{`)),
    packed(
      'integers beside a call',
      '/execute',
      execute('1', `},"more":[${'9999999999999999,'.repeat(1_700)}0],"x":{`),
    ),
    packed('members', '/quota', `{${Array.from({ length: 330 }, (_, index) => `"${index}":{}`).join()}}`),
    packed('topics', '/api/eth-rpc', logs(`{"topics":[[${`${topic},`.repeat(400)}${topic}]]}`)),
    packed('a wrong topic among topics', '/api/eth-rpc', logs(`{"topics":[[${`${topic},`.repeat(400)}"x"]]}`)),
    packed('white space', '/api/eth-rpc', `${' '.repeat(30_000)}{}`),
    packed('escapes', '/api/eth-rpc', `["${'\\u0041'.repeat(5_000)}",1.5]`),
    get('all logs', '/api/eth-rpc', logs('{"fromBlock":"earliest"}')),
    get('the interface as OpenAPI', '/docs/openapi.json'),
    get('the interface as OpenRPC', '/docs/json-rpc.json'),
    get('the largest file', '/docs/openapi.json'),
    get('the status page', '/'),
    get('metrics', '/metrics'),
    get('a probe', '/readyz'),
    get('a path of slashes', '/'.repeat(900)),
    get('a path of many parts', '/a'.repeat(450)),
    get('an unknown transaction', `/transactions/0x${'33'.repeat(32)}`),
    {
      name: 'headers',
      bytes: Buffer.from(
        head(
          'GET',
          '/nowhere',
          Array.from({ length: 120 }, (_, index) => `a${index}: 1`),
        ),
      ),
    },
  ].filter(isSmall)
}

const chainIdCall = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'

/** A relay call of 1 kB as a client sends it. */
export function ordinaryRequest(body: string): SmallRequest {
  return get('a relay call', '/execute', body)
}

function head(verb: string, path: string, headers: readonly string[] = []): string {
  return `${[`${verb} ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers].join('\r\n')}\r\n\r\n`
}

/** Sent by POST when there is a body. */
function get(name: string, path: string, body?: string): SmallRequest {
  if (body === undefined) return { name, bytes: Buffer.from(head('GET', path)) }
  const headers = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]
  return { name, bytes: Buffer.from(head('POST', path, headers) + body) }
}

function packed(name: string, path: string, body: string): SmallRequest {
  const gzip = padded(gzipSync(body, { level: 9 }))
  const headers = ['Content-Type: application/json', 'Content-Encoding: gzip', `Content-Length: ${gzip.length}`]
  return { name, bytes: Buffer.concat([Buffer.from(head('POST', path, headers)), gzip]) }
}

/** With a file name of what is left of 1 kB: so that more may be packed into it. RFC 1952, 2.3. */
function padded(gzip: Buffer): Buffer {
  const [flags, headBytes, fileName] = [3, 10, 0x08]
  const name = Buffer.alloc(Math.max(1, PACKED_BYTES - gzip.length), 'x')
  name[name.length - 1] = 0
  const head = Buffer.from(gzip.subarray(0, headBytes))
  head[flags] = fileName
  return Buffer.concat([head, name, gzip.subarray(headBytes)])
}

function isSmall({ name, bytes }: SmallRequest): boolean {
  if (bytes.length <= MOST_BYTES) return true
  throw new Error(`${name} has ${bytes.length} bytes`)
}
