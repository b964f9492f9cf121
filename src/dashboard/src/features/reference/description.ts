/** The parts of this service's OpenAPI document that the page shows. */
export interface Schema {
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
  const { items, properties = {}, required = [] } = schema
  if (items !== undefined) return fieldsOf(items, `${before}[]`, depth)
  const prefix = before === '' ? '' : `${before}.`
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = prefix + name
    return [{ path, schema: field, isRequired: required.includes(name) }, ...fieldsOf(field, path, depth + 1)]
  })
}
