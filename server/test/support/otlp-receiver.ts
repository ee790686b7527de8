import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A span as it came over the wire; ids in hex. */
export interface ReceivedSpan {
  readonly service: string | undefined
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number
  readonly attributes: Readonly<Record<string, string | number>>
  /** 2 is an error. */
  readonly status: number
}

export interface OtlpReceiver {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  /** Everything that came, as bytes. */
  readonly bodies: readonly Buffer[]
  readonly headers: readonly NodeJS.Dict<string | string[]>[]
  close(): Promise<void>
}

/** Takes traces as a collector does: OTLP over HTTP, protobuf. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const bodies: Buffer[] = []
  const headers: NodeJS.Dict<string | string[]>[] = []
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      if (request.url === '/v1/traces') {
        bodies.push(body)
        headers.push(request.headers)
        spans.push(...spansOf(body))
      }
      response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/x-protobuf' }).end()
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    headers,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** A message of protobuf: what stands in each field; nested messages are bytes until they are read. */
type Message = Map<number, (Buffer | bigint)[]>

/** `opentelemetry/proto/collector/trace/v1/trace_service.proto` and `trace/v1/trace.proto`. */
function spansOf(body: Buffer): ReceivedSpan[] {
  return nested(read(body), 1).flatMap((resourceSpans) => {
    const service = nested(resourceSpans, 1).map(attributesAt(1))[0]?.['service.name']
    return nested(resourceSpans, 2)
      .flatMap((scopeSpans) => nested(scopeSpans, 2))
      .map((span) => ({
        service: service === undefined ? undefined : String(service),
        name: bytes(span, 5).toString(),
        traceId: bytes(span, 1).toString('hex'),
        spanId: bytes(span, 2).toString('hex'),
        parentId: bytes(span, 4).toString('hex'),
        kind: Number(span.get(6)?.[0] ?? 0),
        attributes: attributesAt(9)(span),
        status: Number(nested(span, 15)[0]?.get(3)?.[0] ?? 0),
      }))
  })
}

const attributesAt =
  (field: number) =>
  (message: Message): Record<string, string | number> =>
    Object.fromEntries(
      nested(message, field).map((pair) => {
        const [value] = nested(pair, 2)
        const text = value?.get(1)?.[0]
        return [bytes(pair, 1).toString(), Buffer.isBuffer(text) ? text.toString() : Number(value?.get(3)?.[0])]
      }),
    )

const nested = (message: Message, field: number) =>
  (message.get(field) ?? []).filter((value) => Buffer.isBuffer(value)).map(read)

function bytes(message: Message, field: number): Buffer {
  const [value] = message.get(field) ?? []
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0)
}

function read(buffer: Buffer): Message {
  const message: Message = new Map()
  let at = 0
  const varint = () => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = buffer.readUInt8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const fixed = (length: number) => buffer.subarray(at, (at += length))
  while (at < buffer.length) {
    const tag = Number(varint())
    const wireType = tag & 7
    const value = wireType === 0 ? varint() : fixed(wireType === 1 ? 8 : wireType === 5 ? 4 : Number(varint()))
    const field = tag >> 3
    message.set(field, [...(message.get(field) ?? []), value])
  }
  return message
}
