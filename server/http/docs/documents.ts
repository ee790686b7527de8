/** The parts of the two machine-readable documents that the page shows. */
export interface JsonSchema {
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

export interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly { readonly name: string; readonly description?: string; readonly schema: JsonSchema }[]
  readonly requestBody?: { readonly content: JsonContent }
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly content?: JsonContent }>>
}

type JsonContent = Readonly<Record<'application/json', { readonly schema: JsonSchema }>>

/** What `$ref` leads to. */
export interface WithComponents {
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
