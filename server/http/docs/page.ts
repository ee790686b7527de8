import { inWords } from '../../core/in-words.ts'
import { html, htmlPage, htmlTable, type Markup } from '../html.ts'

/** Endpoints for which the service can make a request that is good for one use; see `Samples`. */
export type SampleName = 'execute' | 'quota'

interface PageSources {
  readonly openApi: OpenApi
  readonly openRpc: OpenRpc
  readonly samples: ReadonlySet<string>
}

/** Both interfaces on one page, each request to be sent from there. */
export function docsPage({ openApi, openRpc, samples }: PageSources): string {
  const operations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const own = operations.filter(({ path }) => path !== RPC_PATH)
  const links = [
    ...own.map(({ method, path, operation }) => [operation.operationId, `${method} ${path}`] as const),
    ...openRpc.methods.map(({ name }) => [name, name] as const),
  ]
  const body = html`<h1>Relay service: interfaces</h1>
    <p>As machines read them: <a href="docs/openapi.json">OpenAPI</a> and <a href="docs/openrpc.json">OpenRPC</a>.</p>
    <nav aria-label="Requests">
      <ul>
        ${links.map(([id, name]) => html`<li><a href="#${id}">${name}</a></li> `)}
      </ul>
    </nav>
    ${own.map(({ method, path, operation }) => operationSection(openApi, samples, { method, path, operation }))}
    <h2 class="part" id="eth-rpc">Ethereum JSON-RPC: POST ${RPC_PATH}</h2>
    <p>${openRpc.info.description ?? ''}</p>
    ${openRpc.methods.map((method) => methodSection(openRpc, method))}`
  return htmlPage('Relay service: interfaces', body, { style, scripts: ['docs/page.js'] })
}

const RPC_PATH = '/api/eth-rpc'

function operationSection(
  document: OpenApi,
  samples: ReadonlySet<string>,
  { method, path, operation }: { method: string; path: string; operation: Operation },
): Markup {
  const { operationId, summary, description = '', requestBody, parameters = [], responses } = operation
  const request = requestBody?.content['application/json'].schema
  const answer = responses['200']?.content?.['application/json'].schema
  const [example] = request ? examplesOf(document, request) : []
  return html`<section class="request" aria-labelledby="${operationId}">
    <h2 id="${operationId}">${method} ${path}</h2>
    <p>${summary ?? ''}</p>
    ${sentences(description)} ${request ? fieldTable('Body', fieldsOf(document, request)) : ''}
    ${
      parameters.length > 0
        ? fieldTable(
            'Path',
            parameters.map(({ name, description: what = '', schema }) => ({
              ...typed(document, schema),
              name,
              what,
              isRequired: true,
            })),
          )
        : ''
    }
    ${answer ? fieldTable('Answer', fieldsOf(document, answer)) : ''} ${errorTable(responses)}
    ${tryForm({
      id: operationId,
      method,
      path,
      label: request ? 'Body' : 'Hash',
      text: request ? JSON.stringify(example, null, 2) : '',
      sample: samples.has(operationId),
      needsSignature: request !== undefined,
    })}
  </section> `
}

function methodSection(document: OpenRpc, method: OpenRpc['methods'][number]): Markup {
  const { name, summary, description = '', params, result, errors = [], examples } = method
  const values =
    examples?.[0]?.params.map(({ value }) => value) ?? params.map(({ schema }) => examplesOf(document, schema)[0] ?? {})
  const envelope = { jsonrpc: '2.0', id: 1, method: name, params: values }
  const fields = params.flatMap(({ name: param, required = false, schema }, index) => [
    { ...typed(document, schema), name: `params[${index}]: ${param}`, what: '', isRequired: required },
    ...fieldsOf(document, schema).map((field) => ({ ...field, name: `${param}.${field.name}` })),
  ])
  return html`<section class="request" aria-labelledby="${name}">
    <h3 id="${name}">${name}</h3>
    <p>${summary ?? ''}</p>
    ${sentences(description)} ${fields.length > 0 ? fieldTable('Params', fields) : ''}
    ${fieldTable('Result', [{ ...typed(document, result.schema), name: 'result', what: result.description ?? '', isRequired: true }])}
    ${table(
      'Errors',
      ['Code', 'When'],
      errors.map(({ code, data }) => [String(code), data ?? '']),
    )}
    ${tryForm({ id: name, method: 'POST', path: RPC_PATH, label: 'Body', text: JSON.stringify(envelope, null, 2) })}
  </section> `
}

const typed = (document: OpenApi | OpenRpc, schema: JsonSchema): Pick<Field, 'type'> => ({
  type: fieldsOf(document, { type: 'object', properties: { only: schema } })[0]?.type ?? '',
})

/** Descriptions are lists of sentences with the ids of their clauses. */
function sentences(description: string): Markup | string {
  const lines = description.split('\n').filter((line) => line !== '')
  if (lines.length === 0) return ''
  if (!lines.every((line) => line.startsWith('- '))) return html`<p>${description}</p>`
  return html`<details>
    <summary>What the documents say</summary>
    <ul>
      ${lines.map((line) => html`<li>${line.slice(2).replaceAll('`', '')}</li> `)}
    </ul>
  </details>`
}

function fieldTable(title: string, fields: readonly Field[]): Markup {
  const rows = fields.map(({ name, type, what, isRequired }) => [
    html`<code>${name}</code>${isRequired ? '' : ' (optional)'}`,
    type,
    what,
  ])
  return table(title, ['Member', 'Type', 'Meaning'], rows)
}

function errorTable(responses: Operation['responses']): Markup {
  const rows = Object.entries(responses)
    .filter(([status]) => !status.startsWith('2'))
    .flatMap(([status, { description = '' }]) =>
      description.split('\n').flatMap((line) => {
        const [, code, when] = /^`([A-Z_]+)`: (.*)$/.exec(line) ?? []
        return code === undefined ? [] : [[status, html`<code>${code}</code>`, when ?? '']]
      }),
    )
  return table('Errors', ['Status', 'Code', 'When'], rows)
}

function table(title: string, heads: readonly string[], rows: readonly (readonly (string | Markup)[])[]): Markup {
  return html`<div class="wide" tabindex="0" role="group" aria-label="${title}">${htmlTable(heads, rows, title)}</div>`
}

interface TryForm {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly label: string
  readonly text: string
  /** The service makes a signed request. */
  readonly sample?: boolean
  readonly needsSignature?: boolean
}

function tryForm({ id, method, path, label, text, sample = false, needsSignature = false }: TryForm): Markup {
  const field =
    method === 'GET'
      ? html`<input
          id="${id}-text"
          name="text"
          value="${text}"
          placeholder="0x…"
          autocomplete="off"
          spellcheck="false"
        />`
      : html`<textarea id="${id}-text" name="text" rows="${text.split('\n').length + 3}" spellcheck="false">
${text}</textarea>`
  const note = sample
    ? html`<button name="sample" value="${id}">Send a signed example</button>`
    : html`<small>A controller of a profile has to sign it.</small>`
  return html`<form data-method="${method}" data-path="${path.slice(1)}">
    <label for="${id}-text">${label}</label>
    ${field}
    <p><button name="send">Send</button> ${needsSignature ? note : ''}</p>
    <output role="status"></output>
  </form>`
}

const style = `
nav ul { columns: 16rem; padding-left: 1.25rem } section { border-top: 1px solid var(--line); margin-top: 2rem } h2.part { margin-top: 3rem }
h2, h3 { overflow-wrap: anywhere; font-size: 1.25rem; margin: 1.5rem 0 .25rem }
caption { text-align: left; font-weight: 600; padding-top: 1rem } .wide { overflow-x: auto } td:first-child { white-space: nowrap } td:last-child { min-width: 12rem }
code, textarea, input, pre { font: .875rem/1.5 ui-monospace, monospace }
form { margin-top: 1rem } label { display: block; font-weight: 600 }
textarea, input { box-sizing: border-box; width: 100%; color: inherit; background: light-dark(#f5f5f8, #1e1e23); border: 1px solid light-dark(#767680, #8e8e98); border-radius: 4px; padding: .5rem }
button { font: inherit; padding: .3rem 1rem; cursor: pointer } output pre { overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; border-left: 3px solid var(--line); padding-left: .75rem }
`

/** A member of a request or an answer, as a reader wants it. */
interface Field {
  /** With the names of the objects around it: `transaction.nonce`. */
  readonly name: string
  readonly type: string
  /** What it means. */
  readonly what: string
  readonly isRequired: boolean
}

/** Objects in objects are shown up to this depth. */
const MAX_DEPTH = 3

/** The members of an object's schema, those of objects within it included; none for another type. */
export function fieldsOf(document: WithComponents, schema: JsonSchema, depth = 0): Field[] {
  const { properties = {}, required = [] } = resolve(document, schema)
  return Object.entries(properties).flatMap(([name, member]) => {
    const resolved = resolve(document, member)
    const field = {
      name,
      type: typeOf(document, resolved),
      what: member.description ?? resolved.description ?? '',
      isRequired: required.includes(name),
    }
    const inner = depth + 1 < MAX_DEPTH ? fieldsOf(document, resolved, depth + 1) : []
    return [field, ...inner.map((one) => ({ ...one, name: `${name}.${one.name}` }))]
  })
}

/** Whole examples of a schema. */
export function examplesOf(document: WithComponents, schema: JsonSchema): readonly unknown[] {
  return resolve(document, schema).examples ?? []
}

/** @throws Error for a reference that leads nowhere: the documents are generated */
function resolve(document: WithComponents, schema: JsonSchema): JsonSchema {
  const { $ref, ...beside } = schema
  if ($ref === undefined) return schema
  const name = $ref.slice($ref.lastIndexOf('/') + 1)
  const found = document.components?.schemas?.[name]
  if (!found) throw new Error(`no schema ${$ref}`)
  return { ...resolve(document, found), ...beside }
}

/** `address (string)`; where there are several forms, `an integer, a decimal string or null`. */
function typeOf(document: WithComponents, schema: JsonSchema): string {
  const { title, type } = schema
  const forms = formsOf(document, schema)
  return forms.length === 1 && forms[0] === title ? `${title} (${String(type)})` : anyOfForms(forms)
}

/** The names of the forms that a value may have. */
function formsOf(document: WithComponents, schema: JsonSchema): readonly string[] {
  const { title, type = 'any', items, oneOf, anyOf } = schema
  const alternatives = oneOf ?? anyOf
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value))
  if (schema.const !== undefined) return [JSON.stringify(schema.const)]
  if (alternatives) return alternatives.flatMap((one) => formsOf(document, resolve(document, one)))
  if (items) {
    const forms = formsOf(document, resolve(document, items))
    return [`list of ${title ?? (forms.length === 1 ? forms[0] : `(${anyOfForms(forms)})`)}`]
  }
  return title !== undefined && type !== 'object' ? [title] : [type].flat()
}

/** Each form once, null last: `an integer, 0x hex or null`. */
function anyOfForms(forms: readonly string[]): string {
  const isNull = (form: string) => form === 'null'
  return inWords([...new Set([...forms.filter((form) => !isNull(form)), ...forms.filter(isNull)])], 'or')
}

/** The parts of the two machine-readable documents that the page shows. */
interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly oneOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly examples?: readonly unknown[]
}

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly { readonly name: string; readonly description?: string; readonly schema: JsonSchema }[]
  readonly requestBody?: { readonly content: JsonContent }
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly content?: JsonContent }>>
}

type JsonContent = Readonly<Record<'application/json', { readonly schema: JsonSchema }>>

/** What `$ref` leads to. */
interface WithComponents {
  readonly components?: { readonly schemas?: Readonly<Record<string, JsonSchema>> }
}

export interface OpenApi extends WithComponents {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

export interface OpenRpc extends WithComponents {
  readonly info: { readonly description?: string }
  readonly methods: readonly {
    readonly name: string
    readonly summary?: string
    readonly description?: string
    readonly params: readonly { readonly name: string; readonly required?: boolean; readonly schema: JsonSchema }[]
    readonly result: { readonly description?: string; readonly schema: JsonSchema }
    readonly errors?: readonly { readonly code: number; readonly data?: string }[]
    readonly examples?: readonly { readonly params: readonly { readonly value: unknown }[] }[]
  }[]
}
