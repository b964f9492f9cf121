/**
 * Checks the conditions on an event's properties. The type of a property is not known: the operator and the value
 * determine it.
 */
import { MAX_WHERE } from '../grammar/limits.ts'
import { operatorsOf } from '../grammar/operators.ts'
import { PSEUDO_PROPERTIES, isPseudoProperty, readPropertyPath } from './property-path.ts'
import { typeNeededBy } from './read-field-condition.ts'
import { checkOperation } from './read-operation.ts'
import { type Faults, fault, isObject, wordOf } from './reading.ts'

const PROPERTY_OPERATORS = [...new Set((['number', 'text', 'boolean'] as const).flatMap((type) => operatorsOf(type)))]

export function checkWhere(reading: Faults, raw: unknown, path: string): void {
  if (!Array.isArray(raw) || raw.length > MAX_WHERE) {
    return fault(reading, path, 'where', { max: MAX_WHERE })
  }
  raw.forEach((item: unknown, index) => checkProperty(reading, item, `${path}[${index}]`))
}

function checkProperty(reading: Faults, raw: unknown, path: string): void {
  if (!isObject(raw)) return fault(reading, path, 'where_item')
  const property = readPropertyPath(reading, wordOf(raw, 'property'), `${path}.property`)
  const known = property !== undefined && isPseudoProperty(property) ? PSEUDO_PROPERTIES[property] : null
  const operation = known ? { type: known } : { type: typeNeededBy(raw), operators: PROPERTY_OPERATORS }
  checkOperation(reading, raw, path, ['property'], operation)
}
