/** Schemas as the OpenAPI document gives them: of bodies all that is taken, of answers no more than what is promised. */

interface Schema {
  type?: string
  anyOf?: object[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
}

/** Of a body: null in an optional field is as if it had not been sent (decisions, "Envelope"). */
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

function orNull({ type, anyOf, ...said }: Schema): object {
  return anyOf === undefined ? { type: [type, 'null'], ...said } : { anyOf: [...anyOf, { type: 'null' }], ...said }
}

/** Of an answer: fields may be added to any of its objects (decisions, "Versioning"), though we answer with no others. */
export function describeAnswer(schema: object): object {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === 'additionalProperties' && value === false ? undefined : value,
  )
  return JSON.parse(text) as object
}
