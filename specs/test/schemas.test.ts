import { expect } from 'chai'
import { schemas } from '../index.ts'
import { compiler } from './ajv.ts'

const compile = compiler()

describe('schemas', () => {
  for (const [key, schema] of Object.entries(schemas)) {
    it(`${key} compiles in Ajv's strict mode, is named as its file, and accepts its own examples`, () => {
      expect(schema['$schema']).to.equal('https://json-schema.org/draft/2020-12/schema')
      expect(schema['$id']).to.equal(`https://touchstone.invalid/schemas/${key}.json`)
      expect(schema['title']).to.be.a('string')
      expect(schema['description']).to.be.a('string')
      compile(key)
      for (const { pointer, example } of examplesIn(schema)) {
        const validate = compile(`${key}#${pointer}`)
        validate(example)
        expect(validate.errors ?? [], `${pointer}: ${JSON.stringify(example)}`).to.be.empty
      }
    })
  }

  it('show an example of every request, response, parameter list and result', () => {
    for (const key of Object.keys(schemas).filter((name) => /^(?:rpc-method|relay|quota)\//.test(name))) {
      const { properties } = schemas[key] as { properties: Record<string, { examples?: unknown[] }> }
      for (const [name, part] of Object.entries(properties)) {
        expect(part.examples, `${key} ${name}`).to.be.an('array').that.is.not.empty
      }
    }
  })
})

/** Every `examples` of a schema, with the JSON pointer to the schema that has it. */
function* examplesIn(node: unknown, pointer = ''): Generator<{ pointer: string; example: unknown }> {
  if (typeof node !== 'object' || node === null) return
  const examples: unknown = (node as { examples?: unknown }).examples
  if (Array.isArray(examples)) for (const example of examples) yield { pointer, example }
  for (const [keyword, child] of Object.entries(node)) {
    if (['examples', 'default', 'enum', 'const'].includes(keyword)) continue
    yield* examplesIn(child, `${pointer}/${keyword.replaceAll('~', '~0').replaceAll('/', '~1')}`)
  }
}
