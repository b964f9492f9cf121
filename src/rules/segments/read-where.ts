/** Reads the conditions on an event's properties. The type of a property is not known: it follows from the operator and the value. */
import { typeNeededBy } from './read-field-condition.ts'
import { checkOperation } from './read-operation.ts'
import { OPERATORS, type ValueType } from './read-value.ts'
import { type Reading, fault, isObject, readName, wordOf } from './reading.ts'

const MAX_WHERE = 5
const MAX_PATH = 4096

/** What an event has beside its properties. */
const PSEUDO_PROPERTIES: ReadonlyMap<string, ValueType> = new Map([
  ['value', 'number'],
  ['currency', 'text'],
  ['type', 'text'],
])

const PROPERTY_OPERATORS = [...new Set([...OPERATORS.number, ...OPERATORS.text, ...OPERATORS.boolean])]

export function checkWhere(reading: Reading, raw: unknown, path: string): void {
  if (!Array.isArray(raw) || raw.length > MAX_WHERE) {
    return fault(reading, path, `must be a list of at most ${MAX_WHERE} conditions on properties`)
  }
  raw.forEach((item: unknown, index) => checkProperty(reading, item, `${path}[${index}]`))
}

function checkProperty(reading: Reading, raw: unknown, path: string): void {
  if (!isObject(raw)) return fault(reading, path, 'must be an object with property, operator and value')
  const property = readName(reading, wordOf(raw, 'property'), `${path}.property`, MAX_PATH)
  const known = PSEUDO_PROPERTIES.get(property ?? '')
  const operation = known
    ? { type: known, operators: OPERATORS[known] }
    : { type: typeNeededBy(raw), operators: PROPERTY_OPERATORS }
  checkOperation(reading, raw, path, ['property'], operation)
}
