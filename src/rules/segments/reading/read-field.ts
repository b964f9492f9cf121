import type { FieldType, TraitValue } from '../../events/facts.ts'
import { readIso } from '../../events/read-iso.ts'
import { inferFieldType } from '../../events/traits.ts'
import type { SegmentFacts } from '../membership/facts.ts'

/** The type that values are compared as: dates are epoch ms. */
interface Compared {
  Number: number
  Boolean: boolean
  Date: number
  Text: string
}
type FieldTypes = ReadonlyMap<string, FieldType>
type Reader<Value> = (facts: SegmentFacts) => Value | undefined

/** Returns a reader for a custom field. The field counts as undefined when it has another type. */
export function typedFieldReader<Type extends FieldType>(
  key: string,
  type: Type,
  fields: FieldTypes,
): Reader<Compared[Type]> {
  const parse = PARSERS[type]()
  return (facts) => {
    const json = jsonOf(facts, key)
    return json === null || typeOf(key, json, fields) !== type ? undefined : parse(json)
  }
}

/** Returns a reader for a custom field of any type. A date is returned as ISO 8601 in UTC. */
export function fieldReader(key: string, fields: FieldTypes): Reader<Exclude<TraitValue, null>> {
  const parseDate = PARSERS.Date()
  return (facts) => {
    const json = jsonOf(facts, key)
    if (json === null) return undefined
    const at = typeOf(key, json, fields) === 'Date' ? parseDate(json) : undefined
    return at === undefined ? parse(json) : new Date(at).toISOString()
  }
}

const jsonOf = ({ traits }: SegmentFacts, key: string): string | null => traits.get(key)?.[1] ?? null

/** A field that is not in the list yet was created by this value or a similar one. */
function typeOf(key: string, json: string, fields: FieldTypes): FieldType {
  return fields.get(key) ?? inferFieldType(parse(json))
}

const parse = (json: string) => JSON.parse(json) as Exclude<TraitValue, null>

const PARSERS: { [Type in FieldType]: () => (json: string) => Compared[Type] | undefined } = {
  Number: () => parseNumber,
  Boolean: () => parseBoolean,
  Text: () => parseText,
  // Reading dates is slow, and the same value is read before and after a change.
  Date: () => rememberLast(parseDate),
}

function parseNumber(json: string): number | undefined {
  const number = Number(json)
  return Number.isNaN(number) ? undefined : number
}

function parseBoolean(json: string): boolean | undefined {
  return json === 'true' || json === 'false' ? json === 'true' : undefined
}

function parseText(json: string): string | undefined {
  if (!json.startsWith('"')) return undefined
  return json.includes('\\') ? String(parse(json)) : json.slice(1, -1)
}

function parseDate(json: string): number | undefined {
  const text = parseText(json)
  return text === undefined ? undefined : readIso(text)
}

function rememberLast<Value>(parse: (json: string) => Value): (json: string) => Value {
  let last: { json: string; value: Value } | null = null
  return (json) => {
    last = last?.json === json ? last : { json, value: parse(json) }
    return last.value
  }
}
