/** The allowed values of a parameter, in words. */

export interface ParameterSchema {
  type?: string
  const?: string
  enum?: readonly string[]
  format?: string
  minimum?: number
  maximum?: number
  default?: string | number
}

/** For example: integer, 1 to 500, default `50`. Literal values are in backquotes. */
export function schemaText(schema: ParameterSchema): string {
  const { const: only, minimum, maximum, default: otherwise } = schema
  const allowed = schema.enum ?? (only === undefined ? undefined : [only])
  const kind = allowed?.map(quote).join(' or ') ?? schema.format ?? schema.type ?? 'any'
  const details = [kind, boundsText(minimum, maximum)]
  if (otherwise !== undefined) details.push(`default ${quote(otherwise)}`)
  return details.filter((parts) => parts !== '').join(', ')
}

function boundsText(minimum: number | undefined, maximum: number | undefined): string {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`
  if (minimum !== undefined) return `${minimum} or more`
  return maximum === undefined ? '' : `${maximum} at most`
}

const quote = (value: string | number) => `\`${value}\``
