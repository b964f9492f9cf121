/** Conditions on values in JSON: custom fields, and properties of events. */
import { INDEX, namesOf } from '../../rules/segments/property-path.ts'
import type { BooleanOperator, NumberOperator, TextOperator } from '../../rules/segments/rule.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'
import { conditionSql, FALSE, numberSql, type Operand, textSql, TRUE } from './compare-sql.ts'

/** A type of JSON that operators need. */
export type JsonType = 'Number' | 'Text' | 'Boolean'

/**
 * A condition on a value of this type; a value of another type is undefined.
 * @param json the JSON text of a value, or an empty text
 * @param isOther SQL that is true of values that are undefined for another reason
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

const IS_TYPE: Record<JsonType, (json: string) => string> = {
  Number: (json) => `match(${json}, '^[-0-9]')`,
  Text: (json) => `startsWith(${json}, '"')`,
  Boolean: (json) => `${json} in ('true', 'false')`,
}

function testSql(json: string, type: JsonType, operator: string, operand: Operand): string {
  switch (type) {
    case 'Number':
      return numberSql(`toFloat64OrZero(${json})`, operator as NumberOperator, operand)
    case 'Text':
      return textSql(`JSONExtractString(${json})`, operator as TextOperator, operand)
    case 'Boolean':
      return booleanSql(`${json} = 'true'`, operator as BooleanOperator)
  }
}

export function booleanSql(is: string, operator: BooleanOperator): string {
  if (operator === 'exists') return TRUE
  if (operator === 'not_exists') return FALSE
  return operator === 'is_true' ? `(${is})` : `not (${is})`
}

/**
 * The JSON text of what a path leads to in an object, empty when it leads nowhere. Dots descend into objects and, by numbers from 0 on,
 * into arrays; `\.` is a dot in a name.
 * @param object JSON text in which `readableJson` has no work
 */
export function propertySql(object: string, path: string): string {
  const names = namesOf(path)
  if (!names.some(isIndex)) return `JSONExtractRaw(${[object, ...names.map(textLiteral)].join(', ')})`
  const at = readableJson('at')
  const step = `if(JSONType(${at}) = 'Array',
    if(match(name, '${INDEX.source}'), JSONExtractRaw(${at}, toUInt32OrZero(name) + 1), ''), JSONExtractRaw(${at}, name))`
  return `arrayFold((at, name) -> ${step}, [${names.map(textLiteral).join(', ')}], ${object})`
}

const isIndex = (name: string): boolean => INDEX.test(name)

/**
 * JSON text that ClickHouse can read. It cannot read an object with a whole number beyond 64 bits, which JavaScript writes in digits up to
 * 1e21: an exponent of 0 makes it a double. Digits inside texts stay as they are.
 */
export const readableJson = (json: string): string =>
  `if(match(${json}, '[0-9]{19}'), arrayStringConcat(arrayMap(part -> if(startsWith(part, '"'), part,
    replaceRegexpAll(part, '([0-9]{19,})([^0-9.eE]|$)', '\\\\1e0\\\\2')), extractAll(${json}, '"(?:[^"\\\\\\\\]|\\\\\\\\.)*"|[^"]+'))), ${json})`
