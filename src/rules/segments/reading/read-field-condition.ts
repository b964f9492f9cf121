import type { FieldType } from '../../events/facts.ts'
import { neededType } from './needed-type.ts'
import { checkOperation } from './read-operation.ts'
import { OPERATORS, type ValueType } from './read-value.ts'
import { type RawObject, type Reading, readName, wordOf } from './reading.ts'

const MAX_KEY = 64

/** The type of values and operators for each type of custom field. */
export const VALUE_TYPES: Record<FieldType, ValueType> = {
  Number: 'number',
  Boolean: 'boolean',
  Date: 'date',
  Text: 'text',
}

const FIELD_OPERATORS = [...new Set([...OPERATORS.date, ...OPERATORS.number, ...OPERATORS.text, ...OPERATORS.boolean])]

/** A field that does not exist may have any type: the one that the operator and the value need. */
export function checkField(reading: Reading, raw: RawObject, path: string): void {
  const key = readName(reading, raw['customField'], `${path}.customField`, MAX_KEY)
  const existing = reading.fields.get(key ?? '')
  const operation = existing
    ? { type: VALUE_TYPES[existing], operators: OPERATORS[VALUE_TYPES[existing]] }
    : { type: typeNeededBy(raw), operators: FIELD_OPERATORS }
  checkOperation(reading, raw, path, ['customField'], operation)
}

/** Returns the type of values that an operator needs, as far as its value shows. */
export function typeNeededBy(raw: RawObject): ValueType {
  const [operator, value] = [wordOf(raw, 'operator'), wordOf(raw, 'value')]
  return VALUE_TYPES[neededType({ operator: String(operator), value }) ?? 'Text']
}
