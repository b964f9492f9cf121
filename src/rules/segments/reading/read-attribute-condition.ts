import { CHANNELS } from '../../events/facts.ts'
import { checkCurrency } from './read-event-condition.ts'
import { type Operation, checkOperation } from './read-operation.ts'
import { OPERATORS } from './read-value.ts'
import { type RawObject, type Reading, readOneOf, wordOf } from './reading.ts'
import { ATTRIBUTES, type Attribute } from '../rule.ts'

const NAMES = Object.keys(ATTRIBUTES) as Attribute[]

export function checkAttribute(reading: Reading, raw: RawObject, path: string): void {
  const attribute = readOneOf(reading, raw['attribute'], `${path}.attribute`, NAMES)
  if (attribute === undefined) return
  checkOperation(
    reading,
    raw,
    path,
    ['attribute', ...checkExtra(reading, raw, path, attribute)],
    operationOn(attribute),
  )
}

/** Checks the extra key of an attribute, and returns it. */
function checkExtra(reading: Reading, raw: RawObject, path: string, attribute: Attribute): string[] {
  if (attribute === 'revenue') {
    checkCurrency(reading, raw, path)
    return ['currency']
  }
  if (attribute !== 'subscribed') return []
  readOneOf(reading, wordOf(raw, 'channel'), `${path}.channel`, CHANNELS)
  return ['channel']
}

function operationOn(attribute: Attribute): Operation {
  const type = ATTRIBUTES[attribute]
  switch (type) {
    case 'texts':
      return { type: 'text', operators: OPERATORS.text }
    case 'date':
      return { type, operators: OPERATORS.date.filter((operator) => operator !== 'within_next_days') }
    default:
      return { type, operators: OPERATORS[type], takesDecimals: attribute === 'revenue' }
  }
}
