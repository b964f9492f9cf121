/** Conditions on values in JSON: custom fields, and properties of events. */
import { INDEX, namesOf } from '../../rules/segments/reading/property-path.ts'
import type { BooleanOperator, NumberOperator, TextOperator } from '../../rules/segments/rule.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'
import { conditionSql, FALSE, KNOWN, numberSql, type Operand, textSql } from './compare-sql.ts'

/** JSON types that operators need. */
export type JsonType = 'Number' | 'Text' | 'Boolean'

/**
 * A condition on a value of this type. A value of another type counts as undefined.
 * @param json SQL of the JSON text of a value, or of an empty text
 * @param isOther SQL that is true for values that are undefined for another reason
 */
export function jsonConditionSql(
  json: string,
  type: JsonType,
  { operator, ...operand }: Operand & { operator: string },
  isOther = FALSE,
): string {
  const isDefined = isOther === FALSE ? IS_TYPE[type](json) : `(${IS_TYPE[type](json)} and not (${isOther}))`
  return conditionSql(isDefined, operator, testSql(json, type, operator, operand))
}

/**
 * No other JSON value begins with a character from `-` to `9`. A comparison costs much less than a regular expression.
 */
export function isNumberSql(json: string): string {
  return `(${json} >= '-' and ${json} < ':')`
}

/** The text that a JSON text contains. It is parsed only if it contains escapes. */
export const jsonStringSql = (json: string): string =>
  `if(position(${json}, '\\\\') = 0, substring(${json}, 2, length(${json}) - 2), JSONExtractString(${json}))`

const IS_TYPE: Record<JsonType, (json: string) => string> = {
  Number: isNumberSql,
  Text: (json) => `startsWith(${json}, '"')`,
  Boolean: (json) => `${json} in ('true', 'false')`,
}

function testSql(json: string, type: JsonType, operator: string, operand: Operand): string {
  switch (type) {
    case 'Number':
      return numberSql(`toFloat64OrZero(${json})`, operator as NumberOperator, operand)
    case 'Text':
      return textSql(jsonStringSql(json), operator as TextOperator, operand)
    case 'Boolean':
      return booleanSql(`${json} = 'true'`, operator as BooleanOperator)
  }
}

export const booleanSql = (is: string, operator: BooleanOperator): string => BOOLEANS[operator](is)

const BOOLEANS: Record<BooleanOperator, (is: string) => string> = {
  ...KNOWN,
  is_true: (is) => `(${is})`,
  is_false: (is) => `not (${is})`,
}

/**
 * The JSON text of the value at a path in an object; empty when there is none. Dots descend into objects and, with
 * numbers from 0 on, into arrays; `\.` is a dot in a name. Parsing takes most of the time of a query, so only events
 * that need it are parsed.
 * @param object SQL of the JSON text of an object as `JSON.stringify` writes it, or of an empty text
 * @param readable the same after `readableJson`
 */
export function propertySql(object: string, readable: string, path: string): string {
  const names = namesOf(path)
  const keys = names.filter((name) => !isIndex(name) && isPlain(name))
  // A name that does not occur in the text cannot be a key in it.
  const missing = keys.map((name) => `position(${object}, ${textLiteral(`"${name}":`)}) = 0`)
  const parsed = parsedSql(readable, names)
  const found = missing.length === 0 ? parsed : `if(${missing.join(' or ')}, '', ${parsed})`
  const [name = ''] = keys
  if (names.length > 1 || keys.length === 0 || LIKE_JSON.test(name)) return found
  const raw = `simpleJSONExtractRaw(${object}, ${textLiteral(name)})`
  return `if(${isFlat(object)} and ${isAsParsed(raw)}, ${raw}, ${found})`
}

/** A value between quotation marks could look like the separator between two texts of an object. */
const LIKE_JSON = /^[:,\]}]/

/** True when JSON writes the name unchanged. */
const isPlain = (name: string): boolean => JSON.stringify(name) === `"${name}"`

/**
 * True when nothing is escaped and no object is nested. Then `"name":` occurs in the text only as a key of the object
 * itself.
 */
const isFlat = (object: string): string => `position(${object}, '\\\\') = 0 and position(${object}, '{', 2) = 0`

/** `JSONExtractRaw` differs from `JSON.stringify` only for lists, exponents and rare characters. */
const isAsParsed = (raw: string): string => `not startsWith(${raw}, '[') and position(${raw}, 'e+') = 0`

function parsedSql(object: string, names: readonly string[]): string {
  if (!names.some(isIndex)) return `JSONExtractRaw(${[object, ...names.map(textLiteral)].join(', ')})`
  const at = readableJson('at')
  const step = `if(JSONType(${at}) = 'Array',
    if(match(name, '${INDEX.source}'), JSONExtractRaw(${at}, toUInt32OrZero(name) + 1), ''), JSONExtractRaw(${at}, name))`
  return `arrayFold((at, name) -> ${step}, [${names.map(textLiteral).join(', ')}], ${object})`
}

const isIndex = (name: string): boolean => INDEX.test(name)

/**
 * JSON text that ClickHouse can read. ClickHouse cannot read an object with an integer beyond 64 bits, which JavaScript
 * writes in digits up to 1e21: an exponent of 0 makes it a double. Digits inside texts stay unchanged.
 */
export const readableJson = (json: string): string =>
  `if(match(${json}, '[0-9]{19}'), arrayStringConcat(arrayMap(part -> if(startsWith(part, '"'), part,
    replaceRegexpAll(part, '([0-9]{19,})([^0-9.eE]|$)', '\\\\1e0\\\\2')), extractAll(${json}, '"(?:[^"\\\\\\\\]|\\\\\\\\.)*"|[^"]+'))), ${json})`
