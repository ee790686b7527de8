import { expect } from 'chai'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApp } from '../../../app.ts'
import { docsRoutes } from '../../../http/docs/routes.ts'
import { silent } from '../../support/rpc-server.ts'
import { examplesOf, fieldsOf } from '../../../http/docs/page.ts'

describe('the documents that the viewer reads', () => {
  it('are made once for all who ask', async () => {
    const handle = createApp({ routes: docsRoutes(), log: silent }).callback()
    const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const cpuMs = async (requests: number) => {
      const before = process.cpuUsage()
      for (let request = 0; request < requests; request++) {
        const response = await fetch(`http://127.0.0.1:${port}/docs/openapi.json`)
        expect(await response.json()).to.have.nested.property('servers[0].url', '..')
      }
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1000
    }
    try {
      const first = await cpuMs(1)
      expect((await cpuMs(10)) / 10).to.be.lessThan(first / 3)
    } finally {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    }
  })
})

const document = {
  components: {
    schemas: {
      'common.address': { title: 'address', type: 'string', description: 'Data of 20 bytes.', examples: ['0x5f'] },
      body: {
        type: 'object',
        required: ['address'],
        properties: {
          address: { $ref: '#/components/schemas/common.address', description: 'Address of the profile.' },
          to: { $ref: '#/components/schemas/common.address' },
          unit: { enum: ['gas', 'lyx'], description: 'What is counted.' },
          nonce: { oneOf: [{ type: 'integer' }, { type: 'string' }, { type: 'string' }] },
          value: { anyOf: [{ type: 'null' }, { type: 'string', title: '0x hex' }, { const: 0 }] },
          topics: { type: 'array', items: { $ref: '#/components/schemas/common.address' } },
          filters: { anyOf: [{ type: 'array', items: { oneOf: [{ type: 'integer' }, { type: 'null' }] } }] },
          inner: { type: 'object', required: ['data'], properties: { data: { type: 'string' } } },
        },
      },
    },
  },
} as const

describe('fieldsOf', () => {
  it('lists members with their types and meanings, those of objects within included', () => {
    const fields = fieldsOf(document, { $ref: '#/components/schemas/body' })
    expect(fields.map(({ name, type, what, isRequired }) => [name, type, what, isRequired])).to.deep.equal([
      ['address', 'address (string)', 'Address of the profile.', true],
      ['to', 'address (string)', 'Data of 20 bytes.', false],
      ['unit', '"gas" or "lyx"', 'What is counted.', false],
      ['nonce', 'integer or string', '', false],
      ['value', '0x hex, 0 or null', '', false],
      ['topics', 'list of address', '', false],
      ['filters', 'list of (integer or null)', '', false],
      ['inner', 'object', '', false],
      ['inner.data', 'string', '', true],
    ])
  })

  it('lists nothing of what is no object, and refuses a reference that leads nowhere', () => {
    expect(fieldsOf(document, { type: 'string' })).to.deep.equal([])
    expect(() => fieldsOf(document, { $ref: '#/components/schemas/none' })).to.throw('no schema')
  })
})

describe('examplesOf', () => {
  it('follows references', () => {
    expect(examplesOf(document, { $ref: '#/components/schemas/common.address' })).to.deep.equal(['0x5f'])
    expect(examplesOf(document, { type: 'string' })).to.deep.equal([])
  })
})
