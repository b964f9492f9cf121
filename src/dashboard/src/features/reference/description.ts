/** The parts of this service's OpenAPI document that the page shows. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: Schema[]
  format?: string
  description?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  default?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
}

export interface Parameter {
  name: string
  in: string
  description?: string
  schema: Schema
  example?: string
}

interface Content {
  schema?: Schema
  example?: object
}

export interface DescribedOperation {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  security: object[]
  parameters: Parameter[]
  requestBody?: { content: { 'application/json': Content } }
  responses: Record<string, { description: string; content?: { 'application/json': Content } }>
}

export interface Document {
  info: { title: string; version: string; description: string }
  paths: Record<string, Record<string, DescribedOperation>>
  components: { schemas: Record<string, Schema> }
  'x-errors': { code: string; status: number; message: string }[]
}

export interface Operation extends DescribedOperation {
  method: string
  path: string
}

export interface Description {
  info: Document['info']
  operations: Operation[]
  errors: Document['x-errors']
  /** Schemas that others refer to, by name. */
  schemas: Record<string, Schema>
}

/** Whether a secret key is required, optional, or not accepted. */
export type KeyUse = 'required' | 'optional' | 'publishable'

export function keyUseOf({ security }: Pick<DescribedOperation, 'security'>): KeyUse {
  if (security.length === 1) return 'required'
  return security.some((scheme) => 'key' in scheme) ? 'optional' : 'publishable'
}

export interface Field {
  /** Path with dots, and `[]` for the items of an array: `events[].identity.email`. */
  path: string
  schema: Schema
  isRequired: boolean
}

const MAX_DEPTH = 4

/** Returns all fields of a schema, outer ones first. */
export function fieldsOf(schema: Schema, before = '', depth = 0): Field[] {
  if (depth > MAX_DEPTH) return []
  const { items, properties = {}, required = [], anyOf } = schema
  if (anyOf !== undefined) return mergeForms(anyOf.map((form) => fieldsOf(form, before, depth)))
  if (items !== undefined) return fieldsOf(items, `${before}[]`, depth)
  const prefix = before === '' ? '' : `${before}.`
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = prefix + name
    return [{ path, schema: field, isRequired: required.includes(name) }, ...fieldsOf(field, path, depth + 1)]
  })
}

/** Only what every form requires is required. A field that several forms have is described by the first. */
function mergeForms(forms: Field[][]): Field[] {
  const byPath = Map.groupBy(forms.flat(), ({ path }) => path)
  const objects = forms.filter((fields) => fields.length > 0)
  return [...byPath].flatMap(([, [first, ...others]]) => {
    const all = first === undefined ? [] : [first, ...others]
    const isRequired = all.length === objects.length && all.every((field) => field.isRequired)
    return first === undefined ? [] : [{ ...first, isRequired }]
  })
}

/** Returns the name of the schema that this one refers to. */
export const nameOf = ({ $ref }: Schema): string | undefined => $ref?.split('/').at(-1)

/** Returns the names of all schemas to which a schema refers, directly or through others, in the order of their use. */
export function namesIn(schema: Schema, schemas: Description['schemas'], found = new Set<string>()): Set<string> {
  const name = nameOf(schema)
  if (name !== undefined) {
    const named = schemas[name]
    if (named === undefined || found.has(name)) return found
    found.add(name)
    return namesIn(named, schemas, found)
  }
  const { properties = {}, items, anyOf = [] } = schema
  for (const inner of [...Object.values(properties), ...(items ? [items] : []), ...anyOf])
    namesIn(inner, schemas, found)
  return found
}

/** Returns the forms that a value may have: those of `anyOf`, with the forms of these. */
export const formsOf = (schema: Schema): Schema[] => (schema.anyOf ? schema.anyOf.flatMap(formsOf) : [schema])
