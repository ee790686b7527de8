import { expect } from 'chai'
import { examplesOf, fieldsOf } from '../../../http/docs/page.ts'

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
          topics: { type: 'array', items: { $ref: '#/components/schemas/common.address' } },
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
      ['topics', 'list of address (string)', '', false],
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
