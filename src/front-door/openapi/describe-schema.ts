/**
 * Describes schemas for the OpenAPI document: for bodies everything that is accepted, for answers only what is
 * guaranteed.
 */

interface Schema {
  type?: string
  anyOf?: object[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
}

/** Describes a body. An optional field may be null, which counts as absent (decisions, "Envelope"). */
export function describeBody(schema: object): object {
  const { properties, required = [], items } = schema as Schema
  if (items !== undefined) return { ...schema, items: describeBody(items) }
  if (properties === undefined) return schema
  const fields = Object.entries(properties).map(([name, field]): [string, object] => {
    const described = describeBody(field)
    return [name, required.includes(name) ? described : orNull(described)]
  })
  return { ...schema, properties: Object.fromEntries(fields) }
}

function orNull({ type, anyOf, ...details }: Schema): object {
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
