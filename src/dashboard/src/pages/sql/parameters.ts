/** The parameters of a statement, which ClickHouse writes as `{name: Type}`. */
export interface Parameter {
  name: string
  type: string
}

/** Texts, quoted names and comments, in which braces mean nothing. */
const QUOTED = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|--[^\n]*|\/\*[\s\S]*?\*\//g

/** The server fills it. */
const BUSINESS = 'business'

/** In the order of the statement, each once, without `business`. */
export function parametersOf(statement: string): Parameter[] {
  const found = statement.replaceAll(QUOTED, ' ').matchAll(/\{\s*([A-Za-z_]\w*)\s*:\s*([^{}]*?)\s*\}/g)
  const types = new Map(Array.from(found, ([, name = '', type = '']) => [name, type]))
  types.delete(BUSINESS)
  return Array.from(types, ([name, type]) => ({ name, type }))
}

/** What is sent: an empty field is an empty text, and no value of another type. */
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
