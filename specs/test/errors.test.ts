import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { errorCatalogue, type ErrorCode, type ErrorEntry } from '../index.ts'

const rows: [string, ErrorEntry][] = Object.entries(errorCatalogue)

/** What clients were promised: these never change. */
const statuses: Partial<Record<ErrorCode, number>> = {
  INVALID_REQUEST: 400,
  INVALID_SIGNATURE: 401,
  STALE_TIMESTAMP: 401,
  NOT_AUTHORISED: 403,
  PROFILE_NOT_REGISTERED: 403,
  PROFILE_NOT_FOUND: 404,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NONCE_USED: 409,
  NONCE_CONFLICT: 409,
  NONCE_GAP: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RELAY_CALL_REVERTS: 422,
  EXPIRES_TOO_SOON: 422,
  QUOTA_EXCEEDED: 429,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UPSTREAM_UNAVAILABLE: 503,
  SIGNERS_UNAVAILABLE: 503,
}

/** The codes of JSON-RPC 2.0 and EIP-1474. */
const rpcCodes: Partial<Record<ErrorCode, number>> = {
  RPC_PARSE_ERROR: -32700,
  RPC_INVALID_REQUEST: -32600,
  RPC_METHOD_NOT_FOUND: -32601,
  RPC_INVALID_PARAMS: -32602,
  RPC_INTERNAL: -32603,
  RPC_SERVER_ERROR: -32000,
  RPC_RESOURCE_NOT_FOUND: -32001,
  RPC_RESPONSE_TOO_LARGE: -32003,
  RPC_LIMIT_EXCEEDED: -32005,
}

describe('error catalogue', () => {
  it('has each code once', () => {
    const text = readFileSync(new URL('../errors.json', import.meta.url), 'utf8')
    const written = [...text.matchAll(/^ {2}"([^"]+)": \{/gm)].map(([, code]) => code)
    expect(written).to.deep.equal(rows.map(([code]) => code))
  })

  it('keeps the promised statuses, and knows no others', () => {
    const actual = rows.filter(([, { status }]) => status !== undefined).map(([code, { status }]) => [code, status])
    expect(Object.fromEntries(actual)).to.deep.equal(statuses)
  })

  it('gives each JSON-RPC code to one error of JSON-RPC', () => {
    const actual = rows.filter(([code]) => code.startsWith('RPC_')).map(([code, { rpcCode }]) => [code, rpcCode])
    expect(Object.fromEntries(actual)).to.deep.equal(rpcCodes)
    expect(new Set(Object.values(rpcCodes)).size).to.equal(Object.keys(rpcCodes).length)
  })

  it('leaves the codes on which clients try again to what may pass', () => {
    const retried = rows.filter(([, { rpcCode }]) => rpcCode === -32603 || rpcCode === -32005).map(([code]) => code)
    expect(retried).to.have.members(['INTERNAL', 'RPC_INTERNAL', 'RATE_LIMITED', 'RPC_LIMIT_EXCEEDED'])
  })

  for (const [code, row] of rows) {
    it(`${code} has a status or a code, one reason in its message, and a place`, () => {
      expect(row.status ?? row.rpcCode).to.be.a('number')
      expect(row.message.split('{reason}')).to.have.lengthOf(2)
      expect(row.description).to.match(/^[A-Z].*\.$/)
      expect(row.endpoints).to.not.be.empty
    })
  }

  it('words an unknown method and a bad signature as clients recognise them', () => {
    expect(errorCatalogue.RPC_METHOD_NOT_FOUND.message).to.equal('the method {reason} does not exist/is not available')
    expect(errorCatalogue.INVALID_SIGNATURE.message).to.equal('Invalid signature: {reason}')
  })
})
