import { MAX_NAME } from '../grammar/limits.ts'
import { TYPE_OF_FIELD, type ValueType, neededType, operatorsOf } from '../grammar/operators.ts'
import { checkOperation } from './read-operation.ts'
import { type RawObject, type Reading, readName, wordOf } from './reading.ts'

const OPERATORS = new Set((['date', 'number', 'text', 'boolean'] as const).flatMap((type) => operatorsOf(type, true)))

/** A field that does not exist may have any type: the one that the operator and the value need. */
export function checkField(reading: Reading, raw: RawObject, path: string): void {
  const key = readName(reading, raw['customField'], `${path}.customField`, MAX_NAME)
  const existing = reading.fields.get(key ?? '')
  const operation = existing
    ? { type: TYPE_OF_FIELD[existing], operators: operatorsOf(TYPE_OF_FIELD[existing], true) }
    : { type: typeNeededBy(raw), operators: [...OPERATORS] }
  checkOperation(reading, raw, path, ['customField'], operation)
}

/** Returns the type of values that an operator needs, as far as its value shows. */
export function typeNeededBy(raw: RawObject): ValueType {
  const [operator, value] = [wordOf(raw, 'operator'), wordOf(raw, 'value')]
  return TYPE_OF_FIELD[neededType({ operator: String(operator), value }) ?? 'Text']
}
