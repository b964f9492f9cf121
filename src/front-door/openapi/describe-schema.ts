/**
 * Describes schemas for the OpenAPI document: for bodies everything that is accepted, for answers only what is
 * guaranteed.
 */
import { isRecord } from '../../rules/is-record.ts'

interface Schema {
  /** Name of a schema that contains itself by `$ref`. */
  $id?: string
  $ref?: string
  type?: string
  anyOf?: object[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
}

/** Describes a body. An optional field may be null, which counts as absent (decisions, "Envelope"). */
export function describeBody(schema: object): object {
  const { $id, $ref, properties, required = [], items, anyOf } = schema as Schema
  const fields = Object.entries(properties ?? {}).map(([name, field]): [string, object] => {
    const described = describeBody(field)
    return [name, required.includes(name) ? described : orNull(described)]
  })
  return {
    ...schema,
    // An answer has a schema of the same name, without these nulls.
    ...($id !== undefined && { $id: sentName($id) }),
    ...($ref !== undefined && { $ref: sentName($ref) }),
    ...(properties !== undefined && { properties: Object.fromEntries(fields) }),
    ...(items !== undefined && { items: describeBody(items) }),
    ...(anyOf !== undefined && { anyOf: anyOf.map(describeBody) }),
  }
}

const sentName = (name: string): string => `Sent${name}`

function orNull(schema: Schema): object {
  const { $id, type, anyOf, ...details } = schema
  if ($id !== undefined) return { anyOf: [schema, { type: 'null' }] }
  // Any value.
  if (type === undefined && anyOf === undefined) return schema
  return anyOf === undefined
    ? { type: [type, 'null'], ...details }
    : { anyOf: [...anyOf, { type: 'null' }], ...details }
}

/**
 * Describes an answer. Later versions may add fields to any object (decisions, "Versioning"), so no object is closed.
 */
export function describeAnswer(schema: object): object {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === 'additionalProperties' && value === false ? undefined : value,
  )
  return JSON.parse(text) as object
}

const SCHEMAS = '#/components/schemas/'

/** Replaces each schema that has an `$id` by a reference, and adds it to `schemas`. */
export function nameSchemas(value: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((one) => nameSchemas(one, schemas))
  if (!isRecord(value)) return value
  const { $id, $ref, ...rest } = value
  const named = Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, nameSchemas(one, schemas)]))
  if (typeof $ref === 'string') return { ...named, $ref: $ref.startsWith('#') ? $ref : SCHEMAS + $ref }
  if (typeof $id !== 'string') return named
  const known = schemas[$id]
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(named))
    throw new Error(`two schemas have the name ${$id}`)
  schemas[$id] = named
  return { $ref: SCHEMAS + $id }
}
