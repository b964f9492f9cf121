/** The parameters of a statement, which ClickHouse writes as `{name: Type}`. */
export interface Parameter {
  name: string
  type: string
}

/** Strings, quoted names and comments, in which braces have no meaning. */
const QUOTED = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|--[^\n]*|\/\*[\s\S]*?\*\//g

/** Parameter that the server fills in. */
const BUSINESS = 'business'

/** Returns each parameter once, in the order of the statement, without `business`. */
export function parametersOf(statement: string): Parameter[] {
  const found = statement.replaceAll(QUOTED, ' ').matchAll(/\{\s*([A-Za-z_]\w*)\s*:\s*([^{}]*?)\s*\}/g)
  const types = new Map(Array.from(found, ([, name = '', type = '']) => [name, type]))
  types.delete(BUSINESS)
  return Array.from(types, ([name, type]) => ({ name, type }))
}

/**
 * Returns the values to send. An empty field is an empty string for a String parameter, and is omitted for other types.
 */
export function valuesOf(parameters: readonly Parameter[], typed: Record<string, string>): Record<string, string> {
  const given = parameters.map(({ name, type }) => [name, typed[name] ?? '', type] as const)
  return Object.fromEntries(
    given.filter(([, value, type]) => value !== '' || type === 'String').map(([name, value]) => [name, value]),
  )
}

export type FieldKind = 'date' | 'number' | 'text'

export function fieldKindOf(type: string): FieldKind {
  if (/^(Nullable\()?Date(32)?\)?$/.test(type)) return 'date'
  return /^(Nullable\()?U?Int\d+\)?$/.test(type) ? 'number' : 'text'
}
