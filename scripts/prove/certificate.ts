import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A key and a certificate that is signed by itself, both in PEM. */
export interface SelfSigned {
  readonly key: string
  readonly cert: string
}

/** Object identifiers in DER. */
const oids = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  basicConstraints: '551d13',
  subjectAltName: '551d11',
} as const

/** Tags of ASN.1. */
const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const OID = 0x06
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const SEQUENCE = 0x30
const SET = 0x31

function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function oid(name: keyof typeof oids): Buffer {
  return der(OID, Buffer.from(oids[name], 'hex'))
}

function utcTime(date: Date): Buffer {
  return der(UTC_TIME, Buffer.from(`${date.toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`))
}

/** The names under which an altered server is reached: two addresses, and `localhost`. */
function alternativeNames(): Buffer {
  const ipv4 = Buffer.from([127, 0, 0, 1])
  const ipv6 = Buffer.from([...new Array<number>(15).fill(0), 1])
  return der(SEQUENCE, der(0x82, Buffer.from('localhost')), der(0x87, ipv4), der(0x87, ipv6))
}

/** Makes a certificate of this machine that nobody but who is told trusts (X.509 v3, P-256), for a day. */
export function selfSigned(): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = der(SEQUENCE, oid('ecdsaWithSha256'))
  const serial = createHash('sha256').update(randomBytes(16)).digest().subarray(0, 8)
  serial[0] = (serial[0] ?? 0) & 0x7f || 1
  const name = der(
    SEQUENCE,
    der(SET, der(SEQUENCE, oid('commonName'), der(UTF8_STRING, Buffer.from('touchstone testbed')))),
  )
  const [from, to] = [-1, 1].map((days) => utcTime(new Date(Date.now() + days * 86_400_000)))
  const isAuthority = der(SEQUENCE, der(0x01, Buffer.from([0xff])))
  const extensions = der(
    SEQUENCE,
    der(SEQUENCE, oid('basicConstraints'), der(OCTET_STRING, isAuthority)),
    der(SEQUENCE, oid('subjectAltName'), der(OCTET_STRING, alternativeNames())),
  )
  const toSign = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, serial),
    algorithm,
    name,
    der(SEQUENCE, from ?? Buffer.of(), to ?? Buffer.of()),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  )
  const signature = der(BIT_STRING, Buffer.of(0), sign('sha256', toSign, privateKey))
  const lines = der(SEQUENCE, toSign, algorithm, signature).toString('base64').replace(/.{64}/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.trim()}\n-----END CERTIFICATE-----\n`,
  }
}
