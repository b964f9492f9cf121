/** Describes the values that a schema allows. */
import { type Schema, nameOf } from './description.ts'

/** Returns text such as: integer, 1 to 500, default `50`. Literal values are in backquotes. */
export function schemaText(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, default: otherwise } = schema
  const details = [
    kindText(schema),
    boundsText(minimum, maximum),
    boundsText(minLength, maxLength, 'characters'),
    boundsText(minItems, maxItems, 'items'),
  ]
  if (otherwise !== undefined) details.push(`default ${quote(otherwise)}`)
  return details.filter((parts) => parts !== '').join(', ')
}

function kindText(schema: Schema): string {
  const name = nameOf(schema)
  if (name !== undefined) return quote(name)
  const allowed = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  if (allowed !== undefined) return allowed.map(quote).join(' or ')
  const several = schema.anyOf?.filter(({ type }) => type !== 'null')
  if (several !== undefined) return [...new Set(several.map(kindText))].join(' or ')
  const type = [schema.type ?? []].flat().find((one) => one !== 'null')
  if (type === 'array' && schema.items !== undefined) return `array of ${kindText(schema.items)}`
  return schema.format ?? type ?? 'any'
}

function boundsText(least: number | undefined, most: number | undefined, unit = ''): string {
  const what = unit && ` ${unit}`
  if (least !== undefined && most !== undefined) return `${least} to ${most}${what}`
  if (least !== undefined) return `${least}${what} or more`
  return most === undefined ? '' : `${most}${what} at most`
}

const quote = (value: unknown) => `\`${String(value)}\``
